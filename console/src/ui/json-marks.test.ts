import { expect, test } from 'vitest'
import { marksBelow, missingIn } from './json-marks.ts'

const missing = (param: string) => ({ param, message: 'Add it.', isMissing: true })
const wrong = (param: string) => ({ param, message: 'Change it.' })

test('a field that is missing is added once, to the innermost value that exists', () => {
  const marks = [missing('type'), missing('text.body'), missing('textile'), wrong('to'), missing('to')]
  expect(missingIn(['to', 'text'], marks).map(({ param }) => param)).toEqual(['type', 'textile'])
  const below = marksBelow('text', marks)
  expect(below).toEqual([missing('text.body')])
  expect(missingIn([], below)).toEqual(below)
  expect(missingIn(['text.body'], below)).toEqual([])
})

test('everything is inside of the whole value', () => {
  expect(marksBelow('', [wrong('a'), wrong('a.b')])).toHaveLength(2)
})

import { expect, test } from 'vitest'
import { newObjectId } from './ids.ts'

test('an object ID has 15 digits, so that it is exact as a JSON number', () => {
  for (let n = 0; n < 200; n++) expect(newObjectId(1)).toMatch(/^1\d{14}$/)
})

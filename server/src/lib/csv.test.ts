import { expect, test } from 'vitest'
import { type Cell, csvCell, csvLines } from './csv.ts'

test.each<[cell: Cell, written: string]>([
  ['plain', 'plain'],
  ['', ''],
  [null, ''],
  [7, '7'],
  [-7, '-7'],
  [true, 'true'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  [' padded ', '" padded "'],
  ['=1+1', `'=1+1`],
  ['+491701234567', `'+491701234567`],
  ['-2', `'-2`],
  ['@sum(a1)', `'@sum(a1)`],
  ['\t=1', `'\t=1`],
  ['\r=1', `"'\r=1"`],
  ['=cmd|"/c calc",a', `"'=cmd|""/c calc"",a"`],
  ['2-1', '2-1'],
])('%j is written as %j', (cell, written) => {
  expect(csvCell(cell)).toBe(written)
})

test('rows end with CRLF', () => {
  expect(
    csvLines([
      ['a', 1],
      ['b', null],
    ]),
  ).toBe('a,1\r\nb,\r\n')
})

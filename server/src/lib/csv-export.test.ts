import { expect, test } from 'vitest'
import { exportAll, exportNewestFirst } from './csv-export.ts'

interface Row {
  at: Date
  id: string
}

const rows: readonly Row[] = Array.from({ length: 1200 }, (_, index) => ({ at: new Date(-index), id: `row ${index}` }))

/** A list that counts how many rows were read from it. */
function newList() {
  const read: number[] = []
  const list = ({ take, after }: { take: number; after: Row | null }) => {
    const start = after ? rows.findIndex(({ id }) => id === after.id) + 1 : 0
    read.push(take)
    return Promise.resolve(rows.slice(start, start + take))
  }
  return { list, read }
}

const linesOf = async (chunks: AsyncIterable<string>) =>
  (await Array.fromAsync(chunks)).join('').trimEnd().split('\r\n')

const exported = (list: ReturnType<typeof newList>['list'], maxRows?: number) =>
  exportNewestFirst<Row>({
    head: ['id'],
    rows: list,
    toLines: ({ id }) => [[id]],
    ...(maxRows !== undefined && { maxRows }),
  })

test('an export has every row once, in order', async () => {
  expect(await linesOf(exported(newList().list))).toEqual(['id', ...rows.map(({ id }) => id)])
})

test('an export stops at its limit, and its last line says so', async () => {
  const lines = await linesOf(exported(newList().list, 700))
  expect(lines).toHaveLength(702)
  expect(lines.at(-1)).toBe('Truncated after 700 rows. Narrow the filters or the time range to export the rest.')
  expect(await linesOf(exported(newList().list, 1200))).toHaveLength(1201)
})

test('a page is read only when the one before was consumed', async () => {
  const { list, read } = newList()
  const chunks = exported(list)[Symbol.asyncIterator]()
  await chunks.next()
  expect(read).toEqual([])
  await chunks.next()
  expect(read).toEqual([501])
})

test('no cell of an export is a formula', async () => {
  const chunks = exportAll({
    head: ['name'],
    rows: () => Promise.resolve(['=1+1', '+1', '-1', '@x', '\tx']),
    toLine: (row) => [row],
  })
  expect(await linesOf(chunks)).toEqual(
    ['name', `'=1+1`, `'+1`, `'-1`, `'@x`, `'\tx`].map((line) => line.replace(/^'\t/, "'\t")),
  )
})

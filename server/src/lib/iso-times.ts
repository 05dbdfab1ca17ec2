export type IsoTimes<Row> = {
  [Name in keyof Row]: Row[Name] extends Date ? string : Row[Name] extends Date | null ? string | null : Row[Name]
}

/** A row with its times as text, as the API has them. */
export const isoTimes = <Row extends object>(row: Row): IsoTimes<Row> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  ) as IsoTimes<Row>

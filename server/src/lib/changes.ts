type Fields = Readonly<Record<string, unknown>>

/** The fields that differ between two states, for the audit log. */
export function changesOf(before: Fields, after: Fields): { before: Fields; after: Fields } {
  const changed = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  const only = (fields: Fields) => Object.fromEntries(changed.map((name) => [name, fields[name]]))
  return { before: only(before), after: only(after) }
}

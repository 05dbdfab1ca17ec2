/** A comment, a quoted or dollar-quoted text, the end of a statement, or anything else. */
const token = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[^;'"$/-]+|[\s\S]/g

/** The statements of an SQL text, without comments and without the semicolons between them. */
export function splitStatements(text: string): string[] {
  const statements = ['']
  for (const [part] of text.matchAll(token)) {
    if (part === ';') statements.push('')
    else if (!/^(--|\/\*)/.test(part)) statements.push(statements.pop() + part)
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}

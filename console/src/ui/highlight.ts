export type Language = 'json' | 'shell' | 'js' | 'python' | 'http' | 'plain'

export interface Token {
  kind: 'string' | 'word' | 'key' | 'comment' | undefined
  text: string
}

const rules: Record<Exclude<Language, 'plain'>, RegExp> = {
  json: /(?<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\]|\\.)*")|(?<word>\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)/g,
  shell:
    /(?<comment>(?<=^|\s)#.*)|(?<string>"(?:[^"\\]|\\.)*"|'[^']*')|(?<key>(?<=\s)--?[A-Za-z][\w-]*)|(?<word>^\s*(?:curl|npm|npx|export|(?:\.\/)?parley)\b|\$\w+)/gm,
  js: /(?<comment>\/\/.*)|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|(?<word>\b(?:import|from|const|let|await|async|function|return|new|if|else|export|throw|try|catch)\b)|(?<key>[\w$]+(?=\s*:))/g,
  python:
    /(?<comment>#.*)|(?<string>f?"(?:[^"\\]|\\.)*"|f?'(?:[^'\\]|\\.)*')|(?<word>\b(?:import|from|def|return|if|else|raise|with|as|not|None|True|False)\b)|(?<key>[\w]+(?==))/g,
  http: /(?<word>^(?:GET|POST|PUT|PATCH|DELETE)\b|\bHTTP\/[\d.]+)|(?<key>^[\w-]+(?=:))/gm,
}

/** Basic syntax highlighting. Long texts stay plain, because highlighting them would be slow. */
export function tokensOf(code: string, language: Language): Token[] {
  if (language === 'plain' || code.length > 20_000) return [{ kind: undefined, text: code }]
  const tokens: Token[] = []
  let end = 0
  for (const match of code.matchAll(rules[language])) {
    if (match.index > end) tokens.push({ kind: undefined, text: code.slice(end, match.index) })
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0] as Token['kind']
    tokens.push({ kind, text: match[0] })
    end = match.index + match[0].length
  }
  tokens.push({ kind: undefined, text: code.slice(end) })
  return tokens
}

import type { Snippet } from '../../ui/code-block.tsx'

/** GET /v1/me in three languages. Without a secret, the code reads it from the environment. */
export function snippetsFor(url: string, secret: string | null): Snippet[] {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: part of the example code
  const fromEnvironment = '`Bearer ${process.env.PARLEY_API_KEY}`'
  const base = url.replace(/\/$/, '')
  return [
    {
      title: 'curl',
      language: 'shell',
      code: `curl ${base}/v1/me \\\n  -H "Authorization: Bearer ${secret ?? '$PARLEY_API_KEY'}"`,
    },
    {
      title: 'Node',
      language: 'js',
      code: [
        `const response = await fetch('${base}/v1/me', {`,
        `  headers: { Authorization: ${secret ? `'Bearer ${secret}'` : fromEnvironment} },`,
        '})',
        'console.log(response.status, await response.json())',
      ].join('\n'),
    },
    {
      title: 'Python',
      language: 'python',
      code: [
        ...(secret ? [] : ['import os']),
        'from urllib.request import Request, urlopen',
        '',
        `key = ${secret ? `"${secret}"` : 'os.environ["PARLEY_API_KEY"]'}`,
        `request = Request("${base}/v1/me", headers={"Authorization": f"Bearer {key}"})`,
        'print(urlopen(request).read().decode())',
      ].join('\n'),
    },
  ]
}

import type { SendRequest } from '@parley/contract/send'
import type { Snippet } from '../../ui/code-block.tsx'

/** Code that sends a message. The request has only texts and objects, which are written alike in all three languages. */
export function sendSnippets(publicUrl: string, request: SendRequest): Snippet[] {
  const json = JSON.stringify(request, null, 2)
  return [
    {
      title: 'curl',
      language: 'shell',
      code: `curl ${publicUrl}/v1/messages \\
  -H "Authorization: Bearer $PARLEY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: order-1001" \\
  -d '${json}'`,
    },
    {
      title: 'TypeScript',
      language: 'js',
      code: `import { Parley } from '@parley/sdk'

const parley = new Parley({ baseUrl: '${publicUrl}', key: process.env.PARLEY_API_KEY! })

const message = await parley.messages.send(${json})
console.log(message.id, message.status)`,
    },
    {
      title: 'Python',
      language: 'python',
      code: `import os
import requests  # pip install requests

response = requests.post(
    "${publicUrl}/v1/messages",
    headers={"Authorization": f"Bearer {os.environ['PARLEY_API_KEY']}", "Idempotency-Key": "order-1001"},
    json=${json.replaceAll('\n', '\n    ')},
    timeout=10,
)
response.raise_for_status()
print(response.json()["id"])`,
    },
  ]
}

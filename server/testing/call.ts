export interface CallOptions {
  method?: string
  key?: string | undefined
  headers?: Record<string, string>
  body?: unknown
}

export interface Answer {
  status: number
  headers: Headers
  body: unknown
}

export async function callApi(url: string, { method = 'GET', key, headers = {}, body }: CallOptions): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  const json = answer.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: answer.status, headers: answer.headers, body: json ? JSON.parse(text) : text }
}

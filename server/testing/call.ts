export interface CallOptions {
  method?: string
  key?: string | undefined
  headers?: Record<string, string>
  body?: unknown
}

export interface ApiResponse {
  status: number
  headers: Headers
  body: unknown
}

export async function callApi(
  url: string,
  { method = 'GET', key, headers = {}, body }: CallOptions,
): Promise<ApiResponse> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text }
}

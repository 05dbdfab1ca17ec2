import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { isForApi } from './url.ts'

const request = (url: string) => ({ url, headers: { host: 'x' }, httpVersion: '1.1' }) as unknown as IncomingMessage

test.each([
  '/v1',
  '/v1/',
  '/v1?a=1',
  '/v1#a',
  '/v1/me',
  '/v1/%zz',
  '/V1/%zz',
  '/%76%31/me',
  'http://x/v1/me',
  'https://x/v1',
  'http://x/v1/%zz',
  '/mcp',
  '/mcp?a=1',
  '/mcp/',
  '/%6dcp',
  'http://x/mcp',
])('is for the API: %s', (url) => {
  expect(isForApi(request(url))).toBe(true)
})

test.each([
  '/',
  '/v',
  '/v1x',
  '/v10/me',
  '/V1/me',
  '/v1%2fme',
  '/console/v1/me',
  '/%zz/v1',
  '*',
  'http://x/',
  'http://v1/',
  '/healthz?%',
  '/network/whatsapp/x?hub.mode=%zz',
  'http://x/y?%',
  '/mcpx',
  '/docs/mcp',
])('is not for the API: %s', (url) => {
  expect(isForApi(request(url))).toBe(false)
})

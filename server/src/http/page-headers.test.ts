import { expect, test } from 'vitest'
import { useTestServer } from '../../testing/test-server.ts'

const server = useTestServer()

const addresses = ['/', '/sign-in', '/link', '/w/acme/keys', '/nowhere', '/docs/errors', '/docs/api/']

test.each(addresses)('%s has the security headers: no frames, no foreign resources, no referrer', async (address) => {
  const response = await fetch(server.url + address, { headers: { accept: 'text/html' } })
  // If the console was not built, its paths are 404 and there is no page to check.
  if (!response.headers.get('content-type')?.startsWith('text/html')) return expect(response.status).toBe(404)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  const policy = (response.headers.get('content-security-policy') ?? '')
    .replaceAll(/nonce-[^']+/g, 'nonce-…')
    .split('; ')
  expect(policy).toEqual(
    expect.arrayContaining(["object-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"]),
  )
  expect(policy.filter((part) => /https?:|\*|unsafe-eval/.test(part))).toEqual([])
  expect(policy.filter((part) => /unsafe/.test(part) && !part.startsWith('style-src-attr '))).toEqual([])
  if (!address.startsWith('/docs/')) {
    expect(policy).toContain("script-src 'self' 'nonce-…'")
    expect(policy).toContain("frame-src 'none'")
    expect(response.headers.get('cache-control')).toBe('no-store')
  }
})

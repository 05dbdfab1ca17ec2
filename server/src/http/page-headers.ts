/**
 * The security headers of every HTML page: only own resources, no embedding in frames, and no Referer header, because a
 * URL may contain a one-time link.
 */
export const pageHeaders = (policy: Readonly<Record<string, string>>): Record<string, string> => ({
  'Content-Security-Policy': Object.entries({ ...policy, ...always })
    .map(([kind, sources]) => `${kind} ${sources}`)
    .join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
})

const always = {
  'object-src': "'none'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
}

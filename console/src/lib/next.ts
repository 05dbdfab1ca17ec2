/** Where to go after signing in: a path of this console, otherwise '/'. Prevents redirects to other sites. */
export function safeNext(next: string | null | undefined): string {
  if (!next?.startsWith('/') || /^\/[/\\]/.test(next) || hasControlCharacter(next)) return '/'
  const { origin, pathname, search, hash } = new URL(next, 'http://console.invalid')
  if (origin !== 'http://console.invalid' || pathname.startsWith('//')) return '/'
  return pathname.startsWith('/sign-in') ? '/' : pathname + search + hash
}

function hasControlCharacter(text: string): boolean {
  return [...text].some((character) => character.charCodeAt(0) < 32)
}

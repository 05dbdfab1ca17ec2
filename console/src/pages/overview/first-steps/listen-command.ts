/** The command that receives and verifies events on this machine, if the webhook's URL is on this machine. */
export function listenCommand(url: string, secret = 'whsec_…'): string | null {
  if (!URL.canParse(url)) return null
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'http:' || !['localhost', '127.0.0.1'].includes(hostname)) return null
  return `./parley listen --port ${port || '80'} --secret ${secret}`
}

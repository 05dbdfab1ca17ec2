/** The service's answer as JSON, whatever its status. */
export async function fetchJson(path: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(path, { headers: { Accept: 'application/json' } })
  return { status: answer.status, body: await answer.json() }
}

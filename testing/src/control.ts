/** Calls the control API of the simulator. */
export type Control = (method: 'GET' | 'POST' | 'PATCH' | 'PUT', path: string, body?: unknown) => Promise<unknown>

export function newControl(simulatorUrl: string): Control {
  return async (method, path, body) => {
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${simulatorUrl}/control${path}`, init)
    const json = (await response.json().catch(() => null)) as { error?: { message?: string } } | null
    if (response.ok) return json
    throw new Error(json?.error?.message ?? `The simulator responded with ${response.status}.`)
  }
}

import { useEffect, useState } from 'react'
import { fetchJson } from '../../lib/api.ts'

export type Readiness = 'asking' | 'ready' | 'not ready' | 'out of reach'

/** Whether the service can serve, asked again every few seconds. */
export function useReadiness(): Readiness {
  const [readiness, setReadiness] = useState<Readiness>('asking')
  useEffect(() => {
    const ask = () =>
      fetchJson('/readyz').then(
        ({ status }) => setReadiness(status === 200 ? 'ready' : 'not ready'),
        () => setReadiness('out of reach'),
      )
    void ask()
    const timer = setInterval(ask, 5000)
    return () => clearInterval(timer)
  }, [])
  return readiness
}

import { useReadiness } from './home.queries.ts'

const words = {
  asking: 'Asking the service…',
  ready: 'The service is ready.',
  'not ready': 'The service is starting or cannot reach its database.',
  'out of reach': 'The service does not answer.',
}

export function HomePage() {
  const readiness = useReadiness()
  return (
    <main>
      <h1>Parley</h1>
      <p role="status" data-state={readiness}>
        {words[readiness]}
      </p>
      <nav aria-label="Documentation">
        <a href="/docs/api">API reference</a>
        <a href="/docs/errors">Errors</a>
      </nav>
    </main>
  )
}

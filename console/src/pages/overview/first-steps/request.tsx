import { useHere, useSession } from '../../../lib/session.ts'
import { CodeBlock } from '../../../ui/code-block.tsx'
import { PageLink } from '../../../ui/link.tsx'
import styles from '../onboarding.module.css'
import { useOnboarding } from '../overview.queries.ts'

/** The command for a first request. The step is done when the request arrives. */
export function RequestStep() {
  const here = useHere()
  const { public_url: publicUrl } = useSession()
  const { data } = useOnboarding()
  return (
    <div className={styles.fields}>
      <CodeBlock language="shell" code={`curl ${publicUrl}/v1/me -H "Authorization: Bearer $PARLEY_API_KEY"`} />
      <span role="status" className="quiet">
        {data?.steps.find(({ kind }) => kind === 'request')?.done
          ? 'A request was received.'
          : 'Waiting for a request…'}
      </span>
      <PageLink to={here.path('docs')}>Read the quickstart</PageLink>
    </div>
  )
}

import type { Onboarding } from '@parley/contract/console/overview'
import { useData } from '../../lib/query.ts'
import { useHere, useSession } from '../../lib/session.ts'
import { useExampleRequest } from '../../parts/example-request.ts'
import { senderName, useSenderChoice } from '../../parts/network.queries.ts'
import { useConnectedSenders } from '../../parts/recipient.tsx'
import { CodeBlock, CodeTabs } from '../../ui/code-block.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { ExternalLink, PageLink } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadingLines } from '../../ui/states.tsx'
import styles from './docs.module.css'
import { sendSnippets } from './send-snippets.ts'

/** Pages of the documentation that a developer needs first. */
const links = [
  ['start/quickstart', 'Quickstart', 'send the first message in five languages.'],
  ['messages/sending', 'Sending', 'templates, replies, files, retries and statuses.'],
  ['events/webhooks', 'Webhooks', 'receive events at your URL.'],
  ['events/verify', 'Verify webhooks', 'TypeScript, Python, PHP, Go and Ruby.'],
  ['api', 'API reference', 'every endpoint with its fields.'],
  ['events/types', 'Event types', 'every event with an example.'],
  ['errors', 'Errors', 'every error code: what it means and what to do.'],
  ['tools/typescript', 'SDK', 'the client for TypeScript.'],
  ['tools/agents', 'Agents', 'let an agent use the API.'],
] as const

/** Links to the documentation, and requests with the values of this workspace. */
export function DocsPage() {
  const here = useHere()
  const { public_url: publicUrl } = useSession()
  const { data } = useData<Onboarding>(here.api('onboarding'))
  const senders = useConnectedSenders()
  const { isPending } = useSenderChoice()
  const isLoaded = data !== undefined && !isPending
  const request = useExampleRequest()
  const keyHint = data?.key_hint ?? null
  return (
    <>
      <PageHeader title="Docs" />
      <PageBody narrow>
        <div className={styles.text}>
          <ul>
            {links.map(([path, title, summary]) => (
              <li key={path}>
                <ExternalLink href={`${publicUrl}/docs/${path}`}>{title}</ExternalLink>: {summary}
              </li>
            ))}
          </ul>
          {isLoaded ? (
            <>
              <h2>This workspace</h2>
              <KeyValue
                facts={[
                  { name: 'Base URL', value: <CopyId id={`${publicUrl}/v1`} /> },
                  { name: 'Workspace ID', value: <CopyId id={here.id} /> },
                  { name: 'Newest API key', value: keyHint && <code>{keyHint}</code> },
                  ...senders.map((sender) => ({ name: senderName(sender), value: <CopyId id={sender.id} /> })),
                ]}
              />
              <h2>First requests</h2>
              <p>
                Create a key under <PageLink to={here.path('keys')}>API keys</PageLink> and store its secret, which is
                shown once, in an environment variable:
              </p>
              <CodeBlock
                language="shell"
                code={`export PARLEY_API_KEY='${keyHint ?? 'prl_live_…'}'  # replace with the full secret`}
              />
              <p>Test it. The response contains the workspace, the key, its scopes and its rate limit.</p>
              <CodeBlock language="shell" code={`curl ${publicUrl}/v1/me -H "Authorization: Bearer $PARLEY_API_KEY"`} />
              <p>Send a template, which WhatsApp accepts at any time. With an Idempotency-Key you can safely retry.</p>
              <CodeTabs label="Send a message" snippets={sendSnippets(publicUrl, request)} />
              <p>
                The SDK comes with Parley: run <code>npm pack</code> in its folder <code>sdk</code>, then{' '}
                <code>npm install</code> the file in your project. The message’s status arrives as events at your{' '}
                <PageLink to={here.path('webhooks')}>webhooks</PageLink>. The latest message:
              </p>
              <CodeBlock
                language="shell"
                code={`curl "${publicUrl}/v1/messages?limit=1" -H "Authorization: Bearer $PARLEY_API_KEY"`}
              />
            </>
          ) : (
            <LoadingLines lines={12} />
          )}
        </div>
      </PageBody>
    </>
  )
}

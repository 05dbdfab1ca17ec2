import { useHere } from '../../lib/session.ts'
import { useExampleRequest } from '../../parts/example-request.ts'
import { CodeBlock, CodeTabs } from '../../ui/code-block.tsx'
import { PageLink } from '../../ui/link.tsx'
import styles from './docs.module.css'
import { useExampleValues } from './docs.queries.ts'
import { SdkSource } from './sdk-source.tsx'
import { sendSnippets } from './send-snippets.ts'

/** Create a key, send a message and receive its events. Examples use this installation's public URL. */
export function Quickstart() {
  const here = useHere()
  const { publicUrl, keyHint } = useExampleValues()
  const request = useExampleRequest()
  return (
    <div className={styles.text}>
      <p>
        Create a key, send a message and receive its status. This takes about five minutes. The base URL of the API is{' '}
        <code>{publicUrl}/v1</code>. Requests and responses are JSON.
      </p>

      <h2>1. Create an API key</h2>
      <p>
        An admin creates it under <PageLink to={here.path('keys')}>API keys</PageLink>. The secret is shown once.{' '}
        {keyHint ? (
          <>
            The newest key of this workspace is <code>{keyHint}</code>. Store its secret in an environment variable:
          </>
        ) : (
          'Store it in an environment variable:'
        )}
      </p>
      <CodeBlock
        language="shell"
        code={`export PARLEY_API_KEY='${keyHint ?? 'prl_live_…'}'  # replace with the full secret`}
      />
      <p>Test it. The response contains the workspace, the key, its scopes and its rate limit.</p>
      <CodeBlock language="shell" code={`curl ${publicUrl}/v1/me -H "Authorization: Bearer $PARLEY_API_KEY"`} />

      <h2>2. Send a message</h2>
      <p>
        Use the international phone number format. More than 24 hours after a person’s last message to you, WhatsApp
        only accepts templates. <PageLink to={here.path('templates')}>Templates</PageLink> lists yours, each with a
        request to copy. With an <code>Idempotency-Key</code> you can safely retry a request.
      </p>
      <CodeTabs label="Send a message" snippets={sendSnippets(publicUrl, request)} />
      <SdkSource />
      <p>
        The response is <code>202</code> with the message ID: the message is accepted, charged and queued. Its status
        arrives as webhook events. You can also retrieve a message by its ID, or the latest ones:
      </p>
      <CodeBlock
        language="shell"
        code={`curl "${publicUrl}/v1/messages?limit=1" -H "Authorization: Bearer $PARLEY_API_KEY"`}
      />

      <h2>3. Receive events</h2>
      <p>
        Create a webhook under <PageLink to={here.path('webhooks')}>Webhooks</PageLink> and{' '}
        <PageLink to={here.path('docs/webhooks')}>verify each delivery</PageLink>. Failed deliveries are retried for
        about nine hours. You can also retry them under <PageLink to={here.path('deliveries')}>Deliveries</PageLink>.
      </p>

      <h2>Good to know</h2>
      <ul>
        <li>
          Every response has the key’s rate limit in <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and{' '}
          <code>RateLimit-Reset</code>. After a <code>429</code>, wait the number of seconds in <code>Retry-After</code>
          .
        </li>
        <li>
          Every response has an <code>X-Request-Id</code>. Search for it in the{' '}
          <PageLink to={here.path('requests')}>request log</PageLink>, or paste it into the search of this console.
        </li>
        <li>
          An error has a <code>code</code> for your program and a <code>message</code> for people. See{' '}
          <PageLink to={here.path('docs/errors')}>all error codes</PageLink>.
        </li>
        <li>Ignore fields and event types you don’t know: new ones may be added.</li>
      </ul>
    </div>
  )
}

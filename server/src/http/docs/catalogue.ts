export interface DocsPage {
  /** Its path is `/docs/<name>`. */
  name: string
  title: string
  /** One line for lists of pages. */
  summary: string
  /** The Markdown file in the repository. Pages without one are generated. */
  file?: string
  /** Its name in the navigation, if that is not the title. */
  label?: string
}

/** Its label is the tag of the routes that it describes. */
export interface ApiPage extends DocsPage {
  label: string
}

export interface DocsGroup {
  title: string
  pages: readonly DocsPage[]
}

const page = (name: string, title: string, summary: string, file = `docs/${name}.md`): DocsPage => ({
  name,
  title,
  summary,
  file,
})

/** A file to copy into a project. */
const code = (title: string, summary: string, file: string): DocsPage =>
  page(`tools/${file.split('/').at(-1)}`, title, summary, file)

const generated = (name: string, title: string, summary: string, label = title): ApiPage => ({
  name,
  title,
  summary,
  label,
})

const api = (name: string, tag: string, summary: string): ApiPage =>
  generated(`api/${name}`, `${tag} API`, summary, tag)

/** The pages of the API reference: one for each tag of the routes. */
export const apiPages: readonly ApiPage[] = [
  api('identity', 'Identity', 'The API key of the request and its workspace.'),
  api('senders', 'Senders', 'The phone numbers of the workspace.'),
  api('templates', 'Templates', 'The message templates of the workspace and their variables.'),
  api('messages', 'Messages', 'Sending messages, and their statuses.'),
  api('inbound-messages', 'Inbound messages', 'Messages that contacts sent to your numbers, and their files.'),
  api('media', 'Media', 'Files to send.'),
  api('forms', 'Forms', 'Submitted forms and the files in them.'),
  api('webhooks', 'Webhooks', 'The URLs that events are sent to.'),
  api('events', 'Events', 'Everything that happens in the workspace: read events, or receive them with webhooks.'),
  generated('api/openapi', 'OpenAPI document', 'The description of the API for programs.', 'OpenAPI'),
]

/** The pages, in the order of the navigation. Their names are the folders and files of docs/. */
export const docsGroups: readonly DocsGroup[] = [
  {
    title: 'Start',
    pages: [
      page('start/quickstart', 'Quickstart', 'Send the first message in curl, JavaScript, Python, Go or PHP.'),
      page('start/concepts', 'Concepts', 'The terms that Parley uses, and when credits are spent and refunded.'),
      page('start/console', 'Console', 'Daily questions in two clicks, and lists by keyboard.'),
      page('start/simulator', 'Simulator', 'Test without sending to real phones.'),
    ],
  },
  {
    title: 'API',
    pages: [
      page('api/authentication', 'Authentication and scopes', 'Create API keys, and limit what they can do.'),
      page('api/rate-limits', 'Rate limits', 'Requests a minute, the headers, and what to do after 429.'),
      page('api/pagination', 'Pagination', 'Read lists page by page, with a cursor.'),
      page('api/idempotency', 'Idempotency', 'Repeat a request without sending a message twice.'),
      page('api/versioning', 'Versioning', 'Changes within v1, and data that your program should ignore.'),
      generated('errors', 'Errors', 'Every error code: what it means and what to do.'),
    ],
  },
  {
    title: 'Messages',
    pages: [
      page('messages/sending', 'Sending', 'Send one message or many, reply, and follow the status.'),
      page('messages/templates', 'Templates', 'Find a template, fill in its variables, and what WhatsApp rejects.'),
      page('messages/interactive', 'Interactive messages', 'Buttons, lists, carousels, products and payments.'),
      page('messages/media', 'Media', 'Upload files to send, and download the files that contacts send.'),
      page('messages/forms', 'Forms', 'Send a form, receive submissions, and download uploaded files.'),
      page('messages/inbound', 'Inbound messages', 'Read messages of contacts, and mark them as read.'),
      page('messages/orders', 'Orders', 'Receive orders from your catalog, and process them in the console.'),
    ],
  },
  {
    title: 'Events',
    pages: [
      page('events/webhooks', 'Webhooks', 'Receive events at your URL, and respond quickly.'),
      page('events/verify', 'Verifying signatures', 'Verify that an event comes from Parley, and rotate the secret.'),
      page('events/retries', 'Retries', 'When a failed delivery is retried, and when a webhook is disabled.'),
      page('events/ordering', 'Duplicates and order', 'Ignore duplicates, and keep the order of a conversation.'),
      page('events/replays', 'Replays', 'Send past events to a webhook again, or for the first time.'),
      page('events/polling', 'Polling', 'Read events with a cursor instead of receiving webhooks.'),
      page('events/service', 'Events about the service', 'Templates, numbers, webhooks, credits, and network updates.'),
      generated('events/types', 'Event types', 'Every event: its fields, and an example.'),
    ],
  },
  {
    title: 'API reference',
    pages: [generated('api', 'API reference', 'Every endpoint, and their common rules.', 'Overview'), ...apiPages],
  },
  {
    title: 'Tools',
    pages: [
      page(
        'tools/typescript',
        'TypeScript SDK',
        'A client for TypeScript and JavaScript, and webhook adapters.',
        'sdk/README.md',
      ),
      page('tools/typescript-events', 'TypeScript SDK: events', 'Receive each event once, verify it, or read events.'),
      page('tools/python', 'Python SDK', 'A client for Python, and a webhook receiver.', 'sdk/python/README.md'),
      page('tools/command-line', 'Command line', 'Send messages, follow events and requests, and operate the service.'),
      page('tools/agents', 'Agents', 'Let an agent use the API over the Model Context Protocol.'),
      page(
        'tools/testing',
        'Testing your bot',
        'Test a bot in CI, with vitest or pytest, against a simulated network.',
      ),
      code('Python verifier', 'Verify webhooks in Python without the SDK.', 'sdk/python/src/parley/verify.py'),
      code('Go verifier', 'Verify webhooks in Go.', 'sdk/go/verify.go'),
      code('PHP verifier', 'Verify webhooks in PHP.', 'sdk/php/verify.php'),
      code('Ruby verifier', 'Verify webhooks in Ruby.', 'sdk/ruby/verify.rb'),
      code('Test vectors', 'Deliveries to test your own verifier with, valid and invalid ones.', 'sdk/vectors.json'),
    ],
  },
  {
    title: 'Run',
    pages: [
      page('run/requirements', 'Requirements', 'Install Parley in a container or with systemd, and check it.'),
      page('run/going-live', 'Going live', 'From the simulator to real numbers: a checklist.'),
      page('run/meta', 'Connecting WhatsApp', 'Connect a Meta app and a WhatsApp Business account.'),
      page('run/numbers', 'Numbers', 'Register a number, set its PIN, and change its display name and profile.'),
      page('run/nothing-arrives', 'Nothing arrives', 'Find out why a message or an event did not arrive.'),
      page('run/configuration', 'Configuration', 'Every environment variable.'),
      page('run/postgresql', 'PostgreSQL', 'Connections, poolers, a replica, time limits and failover.'),
      page('run/scaling', 'Scaling', 'Run several processes and machines on one database.'),
      page('run/tls', 'TLS and proxies', 'nginx, HAProxy and Caddy in front of Parley, and name servers.'),
      page('run/email', 'Email and notifications', 'Send emails, and which problems are announced to whom.'),
      page('run/accounts', 'Accounts', 'Roles, operators, account recovery, sign-in limits and the audit log.'),
      page('run/backup', 'Backup', 'Back up and restore the database, and change secret keys.'),
      page('run/upgrading', 'Upgrading', 'Replace processes one after the other, without downtime.'),
      page('run/storage', 'Storage', 'How long data is stored, how much space it takes, and the file store.'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('reference/limits', 'Limits', 'Connections, requests and memory per client, and responses beyond a limit.'),
      page('reference/metrics', 'Metrics and traces', 'Every Prometheus metric, and OpenTelemetry.'),
      page('reference/logs', 'Logs', 'Every log event, and what the request log contains.'),
      page(
        'reference/personal-data',
        'Personal data',
        'Stored data about contacts, how long it is stored, exporting and erasing it.',
      ),
      page('reference/security', 'Security', 'What is protected, against whom, and the tests that prove it.'),
      page(
        'reference/simulator',
        'Simulator reference',
        'The simulator of WhatsApp and its phones.',
        'simulator/README.md',
      ),
      page(
        'reference/simulator-control',
        'Simulator: control API',
        'Use the simulated phones from programs, and change the network.',
        'simulator/control-api.md',
      ),
    ],
  },
  {
    title: 'Project',
    pages: [
      page(
        'project/decisions',
        'Decisions',
        'Each decision, its reasons and its costs.',
        'docs/project/decisions/README.md',
      ),
      page('project/benchmarks', 'Benchmarks', 'Requests and events per second, with the commands to measure them.'),
      page(
        'project/benchmarks-scale',
        'Benchmarks at scale',
        'Other programs, more processes and data, and isolation.',
      ),
      page('project/reliability', 'Reliability', 'Results when processes, connections and PostgreSQL fail.'),
      page('project/changelog', 'Changelog', 'Changes by version.', 'CHANGELOG.md'),
    ],
  },
]

/** Pages that are made from the OpenAPI document. */
export const referencePages: ReadonlySet<string> = new Set(['api', ...apiPages.map(({ name }) => name), 'events/types'])

export const docsPages: readonly DocsPage[] = docsGroups.flatMap(({ pages }) => pages)

/** Words that readers search for, by the page or the section that they mean. */
export const searchTerms: Readonly<Record<string, readonly string[]>> = {
  'api/authentication': ['scope', 'scopes', 'api key'],
  'api/rate-limits': ['rate limit', 'throttling'],
  'errors#rate_limited': ['429'],
  'api/pagination': ['paging', 'cursor'],
  'start/concepts#credits': ['price', 'credits', 'billing'],
  'start/simulator': ['test key', 'test mode', 'sandbox'],
  'run/accounts#roles': ['permissions'],
  'events/retries': ['retry schedule', 'backoff'],
  'run/scaling#three-machines': ['high availability'],
  'run/accounts#account-recovery': ['forgot password'],
  'events/retries#when-an-endpoint-keeps-failing': ['dead letter', 'dlq'],
  'messages/inbound#mark-a-message-as-read': ['read receipt'],
  'tools/agents': ['mcp'],
  'events/replays': ['resend', 'redeliver'],
  'reference/personal-data': ['gdpr', 'privacy'],
  'tools/python': ['python'],
  'tools/verify.go': ['go', 'golang'],
  'tools/verify.php': ['php'],
  'tools/verify.rb': ['ruby', 'rails'],
  'tools/typescript': ['typescript', 'javascript', 'node'],
}

/** Pages about the program itself, which are long and say little about how to use it. */
export const aboutTheProgram: ReadonlySet<string> = new Set([
  'project/decisions',
  'project/benchmarks',
  'project/benchmarks-scale',
  'reference/security',
  'project/reliability',
  'project/changelog',
  'reference/simulator',
  'reference/simulator-control',
  'tools/vectors.json',
])

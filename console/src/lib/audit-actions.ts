import type { AuditEntry } from '@parley/contract/console/audit'
import { capital } from './format.ts'

type Values = Readonly<Record<string, unknown>>
type Part = Pick<AuditEntry, 'action' | 'target' | 'target_name' | 'before' | 'after'>
type Sentence = (name: string, after: Values, before: Values, entry: Part) => string

/** The action as the end of a sentence that starts with the actor: "revoked the key “Billing”". */
export function sentenceOf(entry: Part): string {
  const sentence = sentences[entry.action]
  const name = entry.target_name ?? entry.target ?? ''
  if (!sentence)
    return [entry.action.replace('.', ': ').replaceAll('_', ' '), name && `“${name}”`].filter(Boolean).join(' ')
  return sentence(name, entry.after ?? {}, entry.before ?? {}, entry)
}

/** The console page of the target, if it has one. */
export function pageOf({ action, target }: Pick<AuditEntry, 'action' | 'target'>): string | null {
  const noun = action.split('.')[0]
  if (noun === 'key') return `keys?open=${target}`
  if (noun === 'webhook' && action !== 'webhook.delete') return `webhooks/${target}`
  if (noun === 'message') return `messages/${target}`
  if (noun === 'sender') return `senders/${target}`
  if (noun === 'order') return `orders/${target}`
  if (noun === 'form') return `forms/${target}`
  if (noun === 'refusals') return `api-errors?open=${target}`
  return null
}

/** The label of an action in filters. */
export function actionLabel(action: string): string {
  return labels[action] ?? capital(action.replace('.', ': ').replaceAll('_', ' '))
}

const named = (name: string) => (name ? ` “${name}”` : '')
const changed = (after: Values) => {
  const fields = Object.keys(after).map((field) => field.replaceAll('_', ' '))
  return fields.length > 0 && fields.length <= 3 ? ` (${fields.join(', ')})` : ''
}

const exports: Readonly<Record<string, string>> = {
  'audit.csv': 'the audit log',
  'conversation.json': 'a conversation',
  'credits.csv': 'the credit statement',
  'orders.csv': 'orders',
  'requests.csv': 'the request log',
}

const sentences: Record<string, Sentence> = {
  'key.create': (name) => `created the key${named(name)}`,
  'key.change': (name, after) => `changed the key${named(name)}${changed(after)}`,
  'key.rotate': (name) => `rotated the key${named(name)}`,
  'key.revoke': (name) => `revoked the key${named(name)}`,
  'webhook.create': (name) => `created the webhook${named(name)}`,
  'webhook.change': (name, after) => `changed the webhook${named(name)}${changed(after)}`,
  'webhook.enable': (name) => `enabled the webhook${named(name)}`,
  'webhook.disable': (name) => `disabled the webhook${named(name)}`,
  'webhook.rotate': (name) => `rotated the secret of the webhook${named(name)}`,
  'webhook.stage_secret': (name) => `staged a new secret for the webhook${named(name)}`,
  'webhook.activate_secret': (name) => `activated the new secret of the webhook${named(name)}`,
  'webhook.cancel_rotation': (name) => `cancelled the rotation of the webhook${named(name)}`,
  'webhook.delete': (name) => `deleted the webhook${named(name)}`,
  'webhook.test': (name) => `sent a test event to the webhook${named(name)}`,
  'webhook.recover': (name) => `retried the failed deliveries of the webhook${named(name)}`,
  'webhook.replay': (name) => `started a replay to the webhook${named(name)}`,
  'webhook.cancel_replay': (name) => `cancelled a replay to the webhook${named(name)}`,
  'delivery.retry': () => 'retried a delivery',
  'delivery.retry_many': (_name, { retried }) => `retried ${retried ?? 'several'} deliveries`,
  'message.send': () => 'sent a message',
  'message.send_again': () => 'sent a message again',
  'message.read': () => 'marked a message as read',
  'message.download': () => 'downloaded the file of a message',
  'order.status': (name, { status }) => `set the order${named(name)} to ${status ?? 'another status'}`,
  'contact.erase': () => 'erased a contact',
  'contact.export': () => 'exported what is stored about a contact',
  'refusals.mute': (name) => `muted API errors with the code ${name}`,
  'refusals.unmute': (name) => `unmuted API errors with the code ${name}`,
  'credits.warn_at': (_name, { low_balance }) => `set the low-credit warning to ${low_balance}`,
  'network.sync': (_name, { ok }) => `synced senders and templates${ok === false ? ', which failed' : ''}`,
  'template.create': (name) => `created the template ${name}`,
  'template.edit': (name) => `edited the template ${name}`,
  'template.delete': (name) => `deleted the template ${name}`,
  'sender.register': (name) => `registered the number ${name}`,
  'sender.deregister': (name) => `deregistered the number ${name}`,
  'sender.pin': (name) => `set the two-step PIN of the number ${name}`,
  'sender.request_code': (name) => `requested a code to verify the number ${name}`,
  'sender.verify_code': (name) => `verified the number ${name}`,
  'sender.name': (name, { name: requested }) => `requested the display name “${requested}” for the number ${name}`,
  'sender.profile': (name, after) => `changed the business profile of the number ${name}${changed(after)}`,
  'invite.create': (name, { role }) => `invited ${name}${role ? ` as ${role}` : ''}`,
  'invite.withdraw': (name) => `withdrew the invitation for ${name}`,
  'member.role': (name, { role }, before) => `changed the role of ${name} from ${before.role} to ${role}`,
  'member.remove': (name) => `removed ${name} from the team`,
  'member.leave': () => 'left the workspace',
  'member.join': (_name, { role }) => `joined the workspace${role ? ` as ${role}` : ''}`,
  'workspace.create': (name) => `created the workspace${named(name)}`,
  'workspace.settings': (_name, after, before) => {
    const fields = Object.keys(after).filter((field) => after[field] !== before[field])
    return `changed the settings${changed(Object.fromEntries(fields.map((field) => [field, null])))}`
  },
  'workspace.suspend': (name) => `suspended the workspace${named(name)}`,
  'workspace.resume': (name) => `resumed the workspace${named(name)}`,
  'workspace.limit': (_name, { webhooks }) => `allowed the workspace ${webhooks} webhooks`,
  'workspace.credit': (_name, { amount }) =>
    Number(amount) < 0 ? `removed ${-Number(amount)} credits` : `added ${amount} credits`,
  'price.set': (name, { credits }) => `set the price of ${name} to ${credits}`,
  'app.create': (name) => `added the app${named(name)}`,
  'app.configure': (name) => `set up the app${named(name)}`,
  'app.change': (name, after) => `replaced secrets of the app${named(name)}${changed(after)}`,
  'connection.create': (name) => `connected the account ${name}`,
  'connection.change': (name) => `replaced the access token of the account ${name}`,
  'connection.fix': (_name, { ok }) => `repaired the set-up of an account${ok === false ? ', which failed' : ''}`,
  'connection.sync': (_name, { ok }) => `synced an account${ok === false ? ', which failed' : ''}`,
  'installation.migrate': (_name, { version }) => `migrated the database to version ${version}`,
  'data.export': (name) => `exported ${exports[name] ?? name}`,
  'form.download': (_name, { index }) => `downloaded file ${Number(index) + 1} of a form submission`,
  'person.operator': (name, { operator }) =>
    operator ? `made ${name} an operator` : `ended the operator rights of ${name}`,
  'person.disable': (name) => `disabled the account of ${name}`,
  'person.enable': (name) => `enabled the account of ${name}`,
  'person.operator_link': () => 'created a link for a new operator account',
  'person.reset_link': (name, { second_factor_off: off }) =>
    `created a password reset link for ${name}${off ? ' and removed their authenticator app, passkeys and sessions' : ''}`,
  'person.passkey_remove': (name, _after, before) =>
    `removed the passkey${named(String(before.name ?? ''))} of ${name}`,
  'files.move': (_name, { to, files }) =>
    `moved ${files} ${files === 1 ? 'file' : 'files'} to the ${to === 's3' ? 'file store' : 'database'}`,
  'secrets.reseal': (_name, { key }) => `encrypted the stored secrets with the key “${key}”`,
  'session.begin': (_name, { by }) => `signed in${by ? ` (${by})` : ''}`,
  'session.failed': (_name, { why }) => `failed to sign in${why ? ` (${why})` : ''}`,
  'session.failed_more': (name, { failures }) => `counted ${failures} more failed attempts to sign in as ${name}`,
  'session.confirm_failed': (_name, { why }) => `failed to confirm their identity${why ? ` (${why})` : ''}`,
  'session.locked': () => 'was locked out temporarily after too many failed attempts',
  'session.first_factor': () => 'entered the correct password and was asked for a second factor',
  'session.end': () => 'signed out',
  'session.revoke': () => 'signed out one of their devices',
  'session.revoke_others': (_name, { ended }) => `signed out ${ended} other devices`,
  'account.time_zone': (_name, { time_zone: zone }) =>
    zone ? `changed their time zone to ${zone}` : 'changed their time zone to that of the browser',
  'account.rename': (_name, { name }) => `changed their name to “${name}”`,
  'account.setup': (_name, { operator }) => `set up an account${operator ? ' as an operator' : ''}`,
  'account.password': (_name, { by, passkeys_removed: passkeys }) =>
    `changed their password${by ? ` (${by})` : ''}${Number(passkeys) > 0 ? ', which removed their passkeys' : ''}`,
  'account.notifications': () => 'changed which emails they get',
  'account.two_factor_on': () => 'turned on an authenticator app',
  'account.two_factor_off': () => 'turned off their authenticator app',
  'account.backup_codes': () => 'created new backup codes',
  'account.passkey_add': (name) => `added the passkey${named(name)}`,
  'account.passkey_remove': (_name, _after, _before, { target_name: name }) =>
    `removed the passkey${named(name ?? '')}`,
}

const labels: Record<string, string> = {
  'key.create': 'Key created',
  'key.change': 'Key changed',
  'key.rotate': 'Key rotated',
  'key.revoke': 'Key revoked',
  'webhook.create': 'Webhook created',
  'webhook.change': 'Webhook changed',
  'webhook.enable': 'Webhook enabled',
  'webhook.disable': 'Webhook disabled',
  'webhook.test': 'Test event sent',
  'webhook.rotate': 'Webhook secret rotated',
  'webhook.stage_secret': 'Webhook secret staged',
  'webhook.activate_secret': 'Webhook secret activated',
  'webhook.cancel_rotation': 'Webhook rotation cancelled',
  'webhook.delete': 'Webhook deleted',
  'webhook.recover': 'Failed deliveries retried',
  'webhook.replay': 'Replay started',
  'webhook.cancel_replay': 'Replay cancelled',
  'delivery.retry': 'Delivery retried',
  'delivery.retry_many': 'Deliveries retried',
  'invite.create': 'Invitation created',
  'invite.withdraw': 'Invitation withdrawn',
  'member.role': 'Role changed',
  'member.remove': 'Member removed',
  'member.leave': 'Member left',
  'member.join': 'Member joined',
  'account.setup': 'Account set up',
  'workspace.create': 'Workspace created',
  'workspace.settings': 'Settings changed',
  'workspace.suspend': 'Workspace suspended',
  'workspace.resume': 'Workspace resumed',
  'workspace.limit': 'Limit on webhooks changed',
  'workspace.credit': 'Credits added or removed',
  'credits.warn_at': 'Low-credit warning changed',
  'connection.create': 'Account connected',
  'network.sync': 'Senders and templates synced',
  'template.create': 'Template created',
  'template.edit': 'Template edited',
  'template.delete': 'Template deleted',
  'sender.register': 'Number registered',
  'sender.deregister': 'Number deregistered',
  'sender.pin': 'Two-step PIN set',
  'sender.request_code': 'Verification code requested',
  'sender.verify_code': 'Number verified',
  'sender.name': 'Display name requested',
  'sender.profile': 'Business profile changed',
  'message.send': 'Message sent',
  'message.send_again': 'Message sent again',
  'message.read': 'Message marked as read',
  'message.download': 'File of a message downloaded',
  'order.status': 'Order status changed',
  'contact.erase': 'Contact erased',
  'contact.export': 'Data of a contact exported',
  'refusals.mute': 'API errors muted',
  'refusals.unmute': 'API errors unmuted',
  'person.reset_link': 'Password reset link created',
  'person.passkey_remove': 'Passkey removed by an operator',
  'files.move': 'Files moved to another store',
  'secrets.reseal': 'Stored secrets encrypted with another key',
  'person.operator': 'Operator changed',
  'person.disable': 'Account disabled',
  'person.enable': 'Account enabled',
  'person.operator_link': 'Operator link created',
  'data.export': 'Data exported',
  'form.download': 'File downloaded',
  'price.set': 'Price changed',
  'app.create': 'App added',
  'app.configure': 'App set up',
  'app.change': 'App secrets replaced',
  'connection.change': 'Access token replaced',
  'connection.fix': 'Account repaired',
  'connection.sync': 'Account synced',
  'installation.migrate': 'Database migrated',
  'account.rename': 'Own name changed',
  'account.time_zone': 'Own time zone changed',
  'account.password': 'Own password changed',
  'account.notifications': 'Own notifications changed',
  'account.two_factor_on': 'Authenticator app turned on',
  'account.two_factor_off': 'Authenticator app turned off',
  'account.backup_codes': 'Backup codes created',
  'account.passkey_add': 'Passkey added',
  'account.passkey_remove': 'Passkey removed',
  'session.begin': 'Signed in',
  'session.first_factor': 'First factor correct',
  'session.failed': 'Sign-in failed',
  'session.failed_more': 'More sign-ins failed',
  'session.confirm_failed': 'Confirmation failed',
  'session.locked': 'Locked out',
  'session.end': 'Signed out',
  'session.revoke': 'Device signed out',
  'session.revoke_others': 'Other devices signed out',
}

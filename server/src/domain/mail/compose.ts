import { escapeHtml } from '../../lib/escape-html.ts'
import { formatTime } from '../../lib/format.ts'
import type { MailContent } from './mail-kinds.ts'

export interface ComposedMail {
  subject: string
  text: string
  html: string
}

interface Parts {
  subject: string
  paragraphs: string[]
  /** The link under the text. */
  action: { title: string; url: string } | null
  /** Why the person gets it, and what they can do if they do not want it. */
  footer: string
}

/** The text of an email, plain and as HTML. `secret` is the token of its one-time link. */
export function composeMail(content: MailContent, secret: string | null, publicUrl: string): ComposedMail {
  const { subject, paragraphs, action, footer } = partsOf(content, secret, publicUrl)
  const lines = [...paragraphs, ...(action ? [`${action.title}:\n${action.url}`] : []), `--\n${footer}`]
  const html = [
    ...paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`),
    ...(action ? [`<p><a href="${escapeHtml(action.url)}">${escapeHtml(action.title)}</a></p>`] : []),
    `<p style="color:#666;font-size:small">${escapeHtml(footer)}</p>`,
  ]
  return {
    subject: oneLine(subject, subjectMax),
    text: `${lines.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><body style="font-family:sans-serif">\n${html.join('\n')}\n</body></html>\n`,
  }
}

/** Longer ones are cut off by mail programs. */
const subjectMax = 150

function partsOf({ kind, data }: MailContent, secret: string | null, publicUrl: string): Parts {
  switch (kind) {
    case 'invitation': {
      const workspace = nameOf(data.workspace)
      return {
        subject: `Invitation to ${workspace}`,
        paragraphs: [
          `${oneLine(data.inviter, 254)} invites you to the workspace “${workspace}” on Parley as ${data.role}.`,
          `The link works once, until ${timeOf(data.expires_at)}, and only for this email address.`,
        ],
        action: linkOf('Accept the invitation', secret, publicUrl),
        footer: `If you do not know this workspace, ignore this email. Parley at ${publicUrl}`,
      }
    }
    case 'password_reset':
      return {
        subject: 'Reset your Parley password',
        paragraphs:
          secret === null
            ? [
                'Someone asked for a link to reset the password of your Parley account.',
                'You sign in with a passkey, so no link is sent: it would remove your passkeys. Sign in with a passkey. If you have none any more, ask the operator of this installation.',
              ]
            : [
                'Someone asked for a link to reset the password of your Parley account.',
                'The link works once, for 30 minutes. Using it removes your passkeys and signs out all your devices.',
              ],
        action: linkOf('Set a new password', secret, publicUrl),
        footer: `If it was not you, ignore this email: nothing changes. Parley at ${publicUrl}`,
      }
    case 'webhook_failing': {
      const name = nameOf(data.name)
      const since = data.failing_since === null ? '' : ` since ${timeOf(data.failing_since)}`
      return ofWorkspace(data, publicUrl, `webhooks/${data.webhook_id}`, {
        subject: `Webhook “${name}” is failing`,
        paragraphs: [
          `The last ${data.failures} attempts to deliver events to the webhook “${name}” have failed${since}.`,
          'Failed deliveries are retried for nine hours. After 20 failures in a row the webhook is disabled, and its events are held until it is enabled.',
        ],
        title: 'Show the webhook',
      })
    }
    case 'webhook_disabled': {
      const name = nameOf(data.name)
      return ofWorkspace(data, publicUrl, `webhooks/${data.webhook_id}`, {
        subject: `Webhook “${name}” was disabled`,
        paragraphs: [
          `The webhook “${name}” was disabled. ${data.reason}`,
          'New events are held. Repair the receiver, then enable the webhook: what is held is delivered.',
        ],
        title: 'Show the webhook',
      })
    }
    case 'credits_low':
      return ofWorkspace(data, publicUrl, 'credits', {
        subject: data.balance === 0 ? 'No credits are left' : `Credits are low: ${data.balance} left`,
        paragraphs: [
          `The workspace has ${data.balance} credits left. Its low-credit warning is at ${data.threshold}.`,
          'Without credits, messages are rejected. Ask the operator of this installation for more.',
        ],
        title: 'Show the credits',
      })
    case 'key_expiring': {
      const name = nameOf(data.name)
      return ofWorkspace(data, publicUrl, `keys?open=${data.key_id}`, {
        subject: `API key “${name}” expires on ${dayOf(data.expires_at)}`,
        paragraphs: [
          `The API key “${name}” expires on ${timeOf(data.expires_at)}. Requests with it are rejected from then on.`,
          'Rotate it: the new key has the same settings, and the old one keeps working for as long as you choose.',
        ],
        title: 'Show the key',
      })
    }
    case 'token_expiring':
      return ofWorkspace(data, publicUrl, 'senders', {
        subject: `WhatsApp access token expires on ${dayOf(data.expires_at)}`,
        paragraphs: [
          `The access token of the WhatsApp account ${data.waba_id} expires on ${timeOf(data.expires_at)}. From then on its numbers cannot send messages.`,
          `An operator has to create a new token at Meta and replace the old one: ./parley connection change ${data.connection_id}`,
        ],
        title: 'Show the senders',
      })
  }
}

function ofWorkspace(
  { workspace_id, workspace }: { workspace_id: string; workspace: string },
  publicUrl: string,
  page: string,
  { subject, paragraphs, title }: { subject: string; paragraphs: string[]; title: string },
): Parts {
  const name = nameOf(workspace)
  return {
    subject: `${name}: ${subject}`,
    paragraphs: [...paragraphs, `Workspace: ${name}`],
    action: { title, url: `${publicUrl}/w/${workspace_id}/${page}` },
    footer: `Choose which emails you get: ${publicUrl}/account`,
  }
}

/** As `linkUrl` of people: the token is in the fragment, which browsers do not send. */
const linkOf = (title: string, secret: string | null, publicUrl: string): Parts['action'] =>
  secret === null ? null : { title, url: `${publicUrl}/link#${secret}` }

/**
 * A name that someone chose, for people who may not know them: on one line, and without addresses that a mail program would
 * turn into links.
 */
const nameOf = (text: string): string =>
  oneLine(text, 100)
    .replace(/:\/\//g, ' ')
    .replace(/[.@](?=\S)/g, '$& ')

/** Without control characters, which could end a header of the email. */
function oneLine(text: string, max: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join('')}…`
}

const timeOf = (iso: string): string => formatTime(new Date(iso))
const dayOf = (iso: string): string => new Date(iso).toISOString().slice(0, 10)

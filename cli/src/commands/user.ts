import { type Role, roles } from '@parley/contract/console/permissions'
import { recordAuditEntry } from '@parley/server/domain/audit/audit'
import { invite, linkUrl, newResetLink, newSetupLink } from '@parley/server/domain/people/links'
import { listPasskeys, removePasskey } from '@parley/server/domain/people/passkeys'
import { findPerson, listPeople, makeOperator } from '@parley/server/domain/people/people'
import { removeSecondFactor } from '@parley/server/domain/people/recovery'
import { requireWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { type Call, type Command, UsageError } from '../command.ts'
import { jsonList, table } from '../table.ts'

const commandLine = { personId: null, name: 'command line', address: null, userAgent: null }

export const userCommands: readonly Command[] = [
  {
    name: 'user create',
    summary: 'Let a person into a workspace’s console; prints a link that works once',
    options: {
      email: { value: 'E', required: true, help: 'their e-mail address' },
      workspace: { value: 'ID', required: true, help: 'where they belong' },
      role: { value: 'R', required: true, help: `one of ${roles.join(', ')}` },
    },
    async run(call) {
      const { clock, config, option } = call
      const db = await call.db()
      const role = readRole(option('role') ?? '')
      const workspace = await requireWorkspace(db, option('workspace') ?? '')
      const email = option('email') ?? ''
      const token = await db.transaction(async (tx) => {
        const entry = { action: 'invite.create', workspaceId: workspace.id, targetName: email, after: { role } }
        await recordAuditEntry(tx, clock, commandLine, entry)
        return invite(tx, clock, { workspaceId: workspace.id, email, role, createdBy: 'command line' })
      })
      const url = linkUrl(config.publicUrl, token)
      return {
        lines: [`${email} can join ${workspace.name} as ${role}. The link works once, for seven days:`, '', `  ${url}`],
        json: { email, account_id: workspace.id, role, url },
      }
    },
  },
  {
    name: 'user list',
    summary: 'Show who may sign in to the console',
    async run({ db }) {
      const people = await listPeople(await db())
      const rows = people.map(
        ({ email, name, operator, totp_confirmed_at: second, passkeys, memberships, last_seen_at: seen }) => [
          email,
          name,
          [
            ...(operator ? ['operator'] : []),
            ...memberships.map(({ workspace, role }) => `${role} of ${workspace}`),
          ].join(', '),
          second ? 'yes' : 'no',
          String(passkeys.length),
          seen?.toISOString() ?? 'never',
        ],
      )
      const json = people.map((person) => ({
        id: person.id,
        email: person.email,
        name: person.name,
        operator: person.operator,
        two_factor: person.totp_confirmed_at !== null,
        passkeys: person.passkeys,
        workspaces: person.memberships.map(({ workspace_id: id, role }) => ({ account_id: id, role })),
        created_at: person.created_at.toISOString(),
        last_seen_at: person.last_seen_at?.toISOString() ?? null,
      }))
      const headings = ['E-MAIL', 'NAME', 'IS', 'SECOND FACTOR', 'PASSKEYS', 'LAST SEEN']
      return {
        lines: table(
          headings,
          rows,
          'Nobody can sign in yet. Make a link: parley user create, or parley user operator.',
        ),
        json: jsonList(json),
      }
    },
  },
  {
    name: 'user operator',
    summary: 'Let a person run this installation; for a new one it prints a link that works once',
    options: { email: { value: 'E', help: 'of somebody who can sign in already (default: a link for somebody new)' } },
    async run(call) {
      const { clock, config, option } = call
      const db = await call.db()
      const email = option('email')
      if (email !== undefined) {
        const person = await requireByEmail(call, email)
        await makeOperator(db, person.id)
        return {
          lines: [`${person.email} is an operator now.`],
          json: { email: person.email, operator: true, url: null },
        }
      }
      const url = linkUrl(config.publicUrl, await newSetupLink(db, clock, null, 'command line'))
      return {
        lines: ['Whoever opens this becomes an operator. The link works once, for seven days:', '', `  ${url}`],
        json: { email: null, operator: true, url },
      }
    },
  },
  {
    name: 'user reset',
    summary: 'Print a link for a new password; following it removes their passkeys and signs out every device',
    options: {
      email: { value: 'E', required: true, help: 'their e-mail address' },
      'second-factor': {
        help: 'also removes their password, authenticator app, backup codes and passkeys and signs out every device, immediately',
      },
    },
    async run(call) {
      const { clock, config, option, flag } = call
      const person = await requireByEmail(call, option('email') ?? '')
      const withoutApp = flag('second-factor')
      const { token, after } = await (await call.db()).transaction(async (tx) => {
        const recovered = withoutApp ? await removeSecondFactor(tx, person.id) : null
        const after = {
          second_factor_off: withoutApp,
          passkeys_removed: recovered?.passkeysRemoved ?? 0,
          sessions_ended: recovered?.sessionsEnded ?? 0,
        }
        const entry = { action: 'person.reset_link', workspaceId: null, target: person.id, targetName: person.email }
        await recordAuditEntry(tx, clock, commandLine, { ...entry, after })
        return { token: await newResetLink(tx, clock, person, 'command line'), after }
      })
      const url = linkUrl(config.publicUrl, token)
      const words = withoutApp
        ? `Removed the password, the second factor and the passkeys (${after.passkeys_removed}) of ${person.email}, and signed out every device (${after.sessions_ended}).`
        : `When ${person.email} follows this link, their passkeys are removed and every device is signed out.`
      return {
        lines: [words, 'The link to set a new password works once, for half an hour:', '', `  ${url}`],
        json: { email: person.email, ...after, url },
      }
    },
  },
  {
    name: 'user passkeys',
    summary: 'Show a person’s passkeys, or remove one',
    options: {
      email: { value: 'E', required: true, help: 'their e-mail address' },
      remove: { value: 'ID', help: 'remove this passkey; it no longer signs them in' },
    },
    async run(call) {
      const { clock, option } = call
      const db = await call.db()
      const { id: personId, email } = await requireByEmail(call, option('email') ?? '')
      const passkeys = await listPasskeys(db, personId)
      const id = option('remove')
      if (id === undefined) {
        const rows = passkeys.map((each) => [each.id, each.name, each.created_at.toISOString()])
        return {
          lines: table(['ID', 'NAME', 'ADDED'], rows, `${email} has no passkeys.`),
          json: jsonList(passkeys.map(toJson)),
        }
      }
      const passkey = passkeys.find((each) => each.id === id)
      if (!passkey) {
        throw new UsageError(`${email} has no passkey with the ID "${id}". Without --remove, the command lists them.`)
      }
      await db.transaction(async (tx) => {
        const { name } = await removePasskey(tx, personId, id)
        const entry = { action: 'person.passkey_remove', workspaceId: null, target: personId, targetName: email }
        await recordAuditEntry(tx, clock, commandLine, { ...entry, before: { passkey: id, name } })
      })
      return {
        lines: [
          `Removed the passkey “${passkey.name}” of ${email}.`,
          `Their open sessions continue; "user reset" signs them out.`,
        ],
        json: { email, removed: toJson(passkey) },
      }
    },
  },
]

const toJson = ({ id, name, created_at }: { id: string; name: string; created_at: Date }) => ({
  id,
  name,
  created_at: created_at.toISOString(),
})

async function requireByEmail({ db }: Call, email: string) {
  const person = await findPerson(await db(), email)
  if (!person) throw new UsageError(`Nobody has the address "${email}". parley user list shows who there is.`)
  return person
}

function readRole(text: string): Role {
  const role = roles.find((each) => each === text)
  if (!role) throw new UsageError(`--role is "${text}", but it takes one of ${roles.join(', ')}.`)
  return role
}

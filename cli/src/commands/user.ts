import { type Role, roles } from '@parley/contract/console/permissions'
import { recordAuditEntry } from '@parley/server/domain/audit/audit'
import { invite, linkUrl, listAllInvites, newResetLink, newSetupLink } from '@parley/server/domain/people/links'
import { listPasskeys, removePasskey } from '@parley/server/domain/people/passkeys'
import { findPerson, listPeople, makeOperator } from '@parley/server/domain/people/people'
import { removeSecondFactor } from '@parley/server/domain/people/recovery'
import { change, commandLine } from '../audit.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { formatTime, plural } from '../format.ts'
import { jsonList, table } from '../table.ts'
import { readWorkspace, workspaceOption } from '../workspace-option.ts'

export const userCommands: readonly Command[] = [
  {
    name: 'user create',
    summary: 'Invite a person to the console of a workspace',
    details: 'Prints an invitation link that works once. Parley does not send email.',
    options: {
      email: { value: 'EMAIL', required: true, help: 'Email address of the person' },
      workspace: workspaceOption('Workspace to invite them to'),
      role: { value: 'ROLE', required: true, help: `Role in the workspace: ${roles.join(', ')}` },
    },
    examples: ['user create --email bea@example.com --workspace ID --role developer'],
    async run(call) {
      const { clock, config, option } = call
      const db = await call.db()
      const role = readRole(option('role') ?? '')
      const workspace = await readWorkspace(call)
      const email = option('email') ?? ''
      const token = await db.transaction(async (tx) => {
        const entry = { action: 'invite.create', workspaceId: workspace.id, targetName: email, after: { role } }
        await recordAuditEntry(tx, clock, commandLine, entry)
        return invite(tx, clock, { workspaceId: workspace.id, email, role, createdBy: 'command line' })
      })
      const url = linkUrl(config.publicUrl, token)
      return {
        lines: [
          `Invited ${email} to ${workspace.name} as ${role}.`,
          '',
          'Share this link with them. It works once and expires in 7 days:',
          '',
          `  ${url}`,
        ],
        json: { email, account_id: workspace.id, role, url },
      }
    },
  },
  {
    name: 'user list',
    summary: 'List the people who can sign in to the console, and those who are invited',
    async run({ db, clock }) {
      const people = await listPeople(await db())
      const invited = invitedPeople(await listAllInvites(await db(), clock), people)
      const rows = people.map(({ email, name, operator, totp_confirmed_at, passkeys, memberships, last_seen_at }) => [
        email,
        name,
        [
          ...(operator ? ['operator'] : []),
          ...memberships.map(({ workspace, role }) => `${role} of ${workspace}`),
        ].join(', '),
        totp_confirmed_at ? 'yes' : 'no',
        String(passkeys.length),
        last_seen_at ? formatTime(last_seen_at) : 'never',
      ])
      const invitedRows = invited.map(({ email, invites }) => [
        email,
        '(invited)',
        invites.map(({ workspace_name, role }) => `${role} of ${workspace_name}`).join(', '),
        'no',
        '0',
        'never',
      ])
      const json = people.map((person) => ({
        id: person.id,
        email: person.email,
        name: person.name,
        operator: person.operator,
        state: 'active',
        two_factor: person.totp_confirmed_at !== null,
        passkeys: person.passkeys,
        workspaces: person.memberships.map(({ workspace_id: id, role }) => ({ account_id: id, role })),
        created_at: person.created_at.toISOString(),
        last_seen_at: person.last_seen_at?.toISOString() ?? null,
      }))
      const empty = 'No users yet. Create the first account with: npx parley user operator'
      const headings = ['EMAIL', 'NAME', 'ROLES', 'TWO-FACTOR', 'PASSKEYS', 'LAST SEEN']
      return {
        lines: table(headings, [...rows, ...invitedRows], empty),
        json: jsonList([...json, ...invited.map(invitedJson)]),
      }
    },
  },
  {
    name: 'user operator',
    summary: 'Make a person an operator of this installation',
    details: 'Operators manage all workspaces. Without --email, it prints a link that creates a new operator account.',
    options: { email: { value: 'EMAIL', help: 'Email address of an existing user (default: create a link)' } },
    examples: ['user operator', 'user operator --email bea@example.com'],
    async run(call) {
      const { clock, config, option } = call
      const email = option('email')
      if (email !== undefined) {
        const person = await requireByEmail(call, email)
        await change(call, async (tx, audit) => {
          await makeOperator(tx, person.id)
          await audit({ action: 'person.operator', workspaceId: null, target: person.id, targetName: person.email })
        })
        return {
          lines: [`${person.email} is now an operator.`],
          json: { email: person.email, operator: true, url: null },
        }
      }
      const token = await change(call, async (tx, audit) => {
        await audit({ action: 'person.operator_link', workspaceId: null })
        return newSetupLink(tx, clock, null, 'command line')
      })
      const url = linkUrl(config.publicUrl, token)
      return {
        lines: ['Open this link to create an operator account. It works once and expires in 7 days:', '', `  ${url}`],
        json: { email: null, operator: true, url },
      }
    },
  },
  {
    name: 'user reset',
    summary: 'Create a password reset link for a person',
    details: 'Setting the new password removes their passkeys and signs out every device.',
    options: {
      email: { value: 'EMAIL', required: true, help: 'Email address of the person' },
      'second-factor': {
        help: 'Immediately remove their password, authenticator app, backup codes and passkeys and sign out every device',
      },
    },
    examples: ['user reset --email bea@example.com', 'user reset --email bea@example.com --second-factor'],
    async run(call) {
      const { clock, config, option, flag } = call
      const person = await requireByEmail(call, option('email') ?? '')
      const removesFactors = flag('second-factor')
      const { token, after } = await (await call.db()).transaction(async (tx) => {
        const recovered = removesFactors ? await removeSecondFactor(tx, person.id) : null
        const after = {
          second_factor_off: removesFactors,
          passkeys_removed: recovered?.passkeysRemoved ?? 0,
          sessions_ended: recovered?.sessionsEnded ?? 0,
        }
        const entry = { action: 'person.reset_link', workspaceId: null, target: person.id, targetName: person.email }
        await recordAuditEntry(tx, clock, commandLine, { ...entry, after })
        return { token: await newResetLink(tx, clock, person, 'command line'), after }
      })
      const url = linkUrl(config.publicUrl, token)
      const effect = removesFactors
        ? `Removed the password, the second factor and ${plural(after.passkeys_removed, 'passkey')} of ${person.email} and ended ${plural(after.sessions_ended, 'session')}.`
        : `When ${person.email} sets a new password, their passkeys are removed and every device is signed out.`
      return {
        lines: [effect, '', 'Link to set a new password. It works once and expires in 30 minutes:', '', `  ${url}`],
        json: { email: person.email, ...after, url },
      }
    },
  },
  {
    name: 'user passkeys',
    summary: 'List the passkeys of a person, or remove one',
    options: {
      email: { value: 'EMAIL', required: true, help: 'Email address of the person' },
      remove: { value: 'ID', help: 'Remove this passkey; it can no longer be used to sign in' },
    },
    examples: ['user passkeys --email bea@example.com', 'user passkeys --email bea@example.com --remove ID'],
    async run(call) {
      const { clock, option } = call
      const db = await call.db()
      const { id: personId, email } = await requireByEmail(call, option('email') ?? '')
      const passkeys = await listPasskeys(db, personId)
      const id = option('remove')
      if (id === undefined) {
        const rows = passkeys.map((each) => [each.id, each.name, formatTime(each.created_at)])
        return {
          lines: table(['ID', 'NAME', 'ADDED'], rows, `${email} has no passkeys.`),
          json: jsonList(passkeys.map(toJson)),
        }
      }
      const passkey = passkeys.find((each) => each.id === id)
      if (!passkey) {
        throw new UsageError(
          `${email} has no passkey with the ID "${id}". Run the command without --remove to list them.`,
        )
      }
      await db.transaction(async (tx) => {
        const { name } = await removePasskey(tx, personId, id)
        const entry = { action: 'person.passkey_remove', workspaceId: null, target: personId, targetName: email }
        await recordAuditEntry(tx, clock, commandLine, { ...entry, before: { passkey: id, name } })
      })
      return {
        lines: [
          `Removed the passkey “${passkey.name}” of ${email}.`,
          `Their open sessions continue. To end them, run: npx parley user reset --email ${email}`,
        ],
        json: { email, removed: toJson(passkey) },
      }
    },
  },
]

type OpenInvite = Awaited<ReturnType<typeof listAllInvites>>[number]

interface Invited {
  email: string
  invites: OpenInvite[]
}

/** The people without an account who have an invitation that still works. */
function invitedPeople(invites: readonly OpenInvite[], people: readonly { email: string }[]): Invited[] {
  const emails = new Set(people.map(({ email }) => email))
  const byEmail = Map.groupBy(invites, ({ email }) => email ?? '')
  return [...byEmail].flatMap(([email, invites]) => (email === '' || emails.has(email) ? [] : [{ email, invites }]))
}

const invitedJson = ({ email, invites }: Invited) => ({
  id: null,
  email,
  name: null,
  operator: false,
  state: 'invited',
  two_factor: false,
  passkeys: [],
  workspaces: invites.map(({ workspace_id: id, role }) => ({ account_id: id, role })),
  created_at: invites[0]?.created_at.toISOString() ?? null,
  last_seen_at: null,
})

const toJson = ({ id, name, created_at }: { id: string; name: string; created_at: Date }) => ({
  id,
  name,
  created_at: created_at.toISOString(),
})

async function requireByEmail({ db }: Call, email: string) {
  const person = await findPerson(await db(), email)
  if (!person)
    throw new UsageError(`No user has the email address "${email}". Run "npx parley user list" to see all users.`)
  return person
}

function readRole(text: string): Role {
  const role = roles.find((each) => each === text)
  if (!role) throw new UsageError(`Invalid --role "${text}". Use one of ${roles.join(', ')}.`)
  return role
}

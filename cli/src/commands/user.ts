import { roles } from '@parley/contract/console/permissions'
import { removeSecondFactor } from '@parley/server/domain/people/account/account'
import { linkUrl, listInvited, newResetLink, newSetupLink, promote } from '@parley/server/domain/people/links/links'
import { disablePerson, enablePerson, removeOperator } from '@parley/server/domain/people/operators/operators'
import { findPerson, listPeople } from '@parley/server/domain/people/people'
import { listPasskeys, removePasskey } from '@parley/server/domain/people/sign-in/passkeys'
import { inviteToTeam } from '@parley/server/domain/people/team/invite'
import { StartupError } from '@parley/server/lib/refuse'
import { change } from '../audit.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { formatTime, plural } from '../format.ts'
import { readChoice } from '../read-options.ts'
import { jsonList, table } from '../table.ts'
import { readWorkspace, workspaceOption } from '../workspace-option.ts'

export const commands: readonly Command[] = [
  {
    name: 'user create',
    details:
      'Prints an invitation link that works once. This command sends no email: share the link. Invitations from the console are sent by email if PARLEY_SMTP_URL is set. ' +
      'The address counts as unverified.',
    options: {
      email: { value: 'EMAIL', required: true, help: 'Email address of the user' },
      workspace: workspaceOption('Workspace to invite them to'),
      role: { value: 'ROLE', required: true, help: `Role in the workspace: ${roles.join(', ')}` },
    },
    examples: ['user create --email bea@example.com --workspace ID --role developer'],
    async run(call) {
      const { clock, config, option } = call
      const role = readChoice('role', option('role') ?? '', roles)
      const workspace = await readWorkspace(call)
      const input = { workspaceId: workspace.id, email: option('email') ?? '', role, createdBy: 'command line' }
      const { email, token } = await change(call, async (tx, audit) => {
        const { id, ...invited } = await inviteToTeam(tx, clock, input)
        const entry = { action: 'invite.create', workspaceId: workspace.id, target: id, targetName: invited.email }
        await audit({ ...entry, after: { role } })
        return invited
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
    details: 'Also lists those who were invited and have not used their link yet.',
    examples: ['user list'],
    async run({ db, clock }) {
      const people = (await listPeople(await db())).map((person) => ({
        ...person,
        state: person.disabled_at ? 'disabled' : 'active',
      }))
      const nothingYet = {
        id: null,
        name: null,
        email_verified_at: null,
        operator: false,
        totp_confirmed_at: null,
        passkeys: [],
      }
      const invited = (await listInvited(await db(), clock)).map((each) => ({
        ...each,
        ...nothingYet,
        last_seen_at: null,
        state: 'invited',
      }))
      const all = [...people, ...invited]
      const rows = all.map(
        ({
          email,
          email_verified_at,
          name,
          state,
          operator,
          totp_confirmed_at,
          passkeys,
          memberships,
          last_seen_at,
        }) => [
          email,
          email_verified_at ? 'yes' : 'no',
          name ?? '',
          state,
          [
            ...(operator ? ['operator'] : []),
            ...memberships.map(({ workspace, role }) => `${role} of ${workspace}`),
          ].join(', '),
          totp_confirmed_at ? 'yes' : 'no',
          String(passkeys.length),
          last_seen_at ? formatTime(last_seen_at) : 'never',
        ],
      )
      const json = all.map((person) => ({
        id: person.id,
        email: person.email,
        email_verified: person.email_verified_at !== null,
        name: person.name,
        state: person.state,
        operator: person.operator,
        two_factor: person.totp_confirmed_at !== null,
        passkeys: person.passkeys,
        workspaces: person.memberships.map(({ workspace_id: id, role }) => ({ account_id: id, role })),
        created_at: person.created_at.toISOString(),
        last_seen_at: person.last_seen_at?.toISOString() ?? null,
      }))
      const headings = ['EMAIL', 'VERIFIED', 'NAME', 'STATE', 'ROLES', 'TWO-FACTOR', 'PASSKEYS', 'LAST SEEN']
      return {
        lines: table(headings, rows, 'No users yet. Create the first account with: ./parley user operator'),
        json: jsonList(json),
      }
    },
  },
  {
    name: 'user operator',
    details:
      'Operators manage all workspaces. Without --email, it prints a link that creates a new operator account. ' +
      'If the email address is unverified, the password and second factor are removed, and it prints a link to set new ones.',
    options: {
      email: { value: 'EMAIL', help: 'Email address of an existing user (default: create a link)' },
      remove: { help: 'End the operator role of the user; takes effect immediately' },
    },
    examples: [
      'user operator',
      'user operator --email bea@example.com',
      'user operator --email bea@example.com --remove',
    ],
    async run(call) {
      const { clock, config, option, flag } = call
      const email = option('email')
      const operator = !flag('remove')
      if (email !== undefined) {
        const person = await requireByEmail(call, email)
        const promotion = await change(call, async (tx, audit) => {
          const promoted = operator ? await promote(tx, clock, person.id, 'command line') : null
          if (!operator) await removeOperator(tx, person.id)
          const removed = promoted && {
            passkeys_removed: promoted.passkeysRemoved,
            sessions_ended: promoted.sessionsEnded,
          }
          await audit({
            ...entryFor('person.operator', person),
            before: { operator: person.operator },
            after: { operator, ...removed },
          })
          return promoted
        })
        const url = promotion ? linkUrl(config.publicUrl, promotion.token) : null
        const newLink = [
          '',
          'The email address is unverified: someone else may have used the account. Its password, second factor and sessions were removed.',
          'Link to set a new password. It works once and expires in 30 minutes:',
          '',
          `  ${url}`,
        ]
        return {
          lines: [`${person.email} is ${operator ? 'now' : 'not'} an operator.`, ...(url ? newLink : [])],
          json: { email: person.email, operator, url },
        }
      }
      if (!operator) throw new UsageError('--remove needs --email, with the email address of an operator.')
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
    name: 'user disable',
    details:
      'Ends their sessions immediately. They cannot sign in, reset the password or use a link until the account is enabled.',
    args: ['EMAIL'],
    examples: ['user disable bea@example.com'],
    async run(call) {
      const { clock, args } = call
      const person = await requireByEmail(call, args[0] ?? '')
      const ended = await change(call, async (tx, audit) => {
        const { sessionsEnded } = await disablePerson(tx, clock, person.id)
        const after = { sessions_ended: sessionsEnded }
        await audit({ ...entryFor('person.disable', person), after })
        return sessionsEnded
      })
      return {
        lines: [`Disabled ${person.email} and ended ${plural(ended, 'session')}.`],
        json: { email: person.email, state: 'disabled', sessions_ended: ended },
      }
    },
  },
  {
    name: 'user enable',
    details: 'The user can sign in again, with the same password, second factor and roles.',
    args: ['EMAIL'],
    examples: ['user enable bea@example.com'],
    async run(call) {
      const person = await requireByEmail(call, call.args[0] ?? '')
      await change(call, async (tx, audit) => {
        await enablePerson(tx, person.id)
        await audit(entryFor('person.enable', person))
      })
      return { lines: [`Enabled ${person.email}.`], json: { email: person.email, state: 'active' } }
    },
  },
  {
    name: 'user reset',
    details: 'Setting the new password removes their passkeys and signs out every device.',
    options: {
      email: { value: 'EMAIL', required: true, help: 'Email address of the user' },
      'second-factor': {
        help: 'Immediately remove their password, authenticator app, backup codes and passkeys and sign out every device',
      },
    },
    examples: ['user reset --email bea@example.com', 'user reset --email bea@example.com --second-factor'],
    async run(call) {
      const { clock, config, option, flag } = call
      const person = await requireByEmail(call, option('email') ?? '')
      const removesFactors = flag('second-factor')
      const { token, after } = await change(call, async (tx, audit) => {
        const recovered = removesFactors ? await removeSecondFactor(tx, person.id) : null
        const after = {
          second_factor_off: removesFactors,
          passkeys_removed: recovered?.passkeysRemoved ?? 0,
          sessions_ended: recovered?.sessionsEnded ?? 0,
        }
        await audit({ ...entryFor('person.reset_link', person), after })
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
    options: {
      email: { value: 'EMAIL', required: true, help: 'Email address of the user' },
      remove: { value: 'ID', help: 'Remove this passkey; signing in with it fails from then on' },
    },
    examples: ['user passkeys --email bea@example.com', 'user passkeys --email bea@example.com --remove ID'],
    async run(call) {
      const { option } = call
      const person = await requireByEmail(call, option('email') ?? '')
      const { email } = person
      const passkeys = await listPasskeys(await call.db(), person.id)
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
        throw new StartupError(
          `${email} has no passkey with the ID "${id}". Run the command without --remove to list them.`,
        )
      }
      await change(call, async (tx, audit) => {
        const { name } = await removePasskey(tx, person.id, id)
        await audit({ ...entryFor('person.passkey_remove', person), before: { passkey: id, name } })
      })
      return {
        lines: [
          `Removed the passkey “${passkey.name}” of ${email}.`,
          `Their open sessions continue. To end them, run: ./parley user reset --email ${email}`,
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

const entryFor = (action: string, { id, email }: { id: string; email: string }) => ({
  action,
  workspaceId: null,
  target: id,
  targetName: email,
})

async function requireByEmail({ db }: Call, email: string) {
  const person = await findPerson(await db(), email)
  if (!person)
    throw new StartupError(`No user has the email address "${email}". Run "./parley user list" to see all users.`)
  return person
}

import { type Role, roles } from '@parley/contract/console/permissions'
import { recordDeed } from '@parley/server/domain/audit/audit'
import { invite, linkUrl, newResetLink, newSetupLink } from '@parley/server/domain/people/links'
import { findPerson, listPeople, makeOperator } from '@parley/server/domain/people/people'
import { endTotp } from '@parley/server/domain/people/two-factor'
import { requireWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { type Call, type Command, Misuse } from '../command.ts'
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
        const deed = { action: 'invite.create', workspaceId: workspace.id, targetName: email, after: { role } }
        await recordDeed(tx, clock, commandLine, deed)
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
        ({ email, name, operator, totp_confirmed_at: second, memberships, last_seen_at: seen }) => [
          email,
          name,
          [
            ...(operator ? ['operator'] : []),
            ...memberships.map(({ workspace, role }) => `${role} of ${workspace}`),
          ].join(', '),
          second ? 'yes' : 'no',
          seen?.toISOString() ?? 'never',
        ],
      )
      const json = people.map((person) => ({
        id: person.id,
        email: person.email,
        name: person.name,
        operator: person.operator,
        two_factor: person.totp_confirmed_at !== null,
        workspaces: person.memberships.map(({ workspace_id: id, role }) => ({ account_id: id, role })),
        created_at: person.created_at.toISOString(),
        last_seen_at: person.last_seen_at?.toISOString() ?? null,
      }))
      const headings = ['E-MAIL', 'NAME', 'IS', 'SECOND FACTOR', 'LAST SEEN']
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
    summary: 'Print a link with which a person sets a new password',
    options: {
      email: { value: 'E', required: true, help: 'their e-mail address' },
      'second-factor': { help: 'takes their authenticator app and backup codes away as well, for those who lost both' },
    },
    async run(call) {
      const { clock, config, option, flag } = call
      const person = await requireByEmail(call, option('email') ?? '')
      const withoutApp = flag('second-factor')
      const token = await (await call.db()).transaction(async (tx) => {
        if (withoutApp) await endTotp(tx, person.id)
        const deed = { action: 'person.reset_link', workspaceId: null, target: person.id, targetName: person.email }
        await recordDeed(tx, clock, commandLine, { ...deed, after: { second_factor_off: withoutApp } })
        return newResetLink(tx, clock, person, 'command line')
      })
      const url = linkUrl(config.publicUrl, token)
      const words = withoutApp ? ' Their second factor is off until they set up a new one.' : ''
      return {
        lines: [
          `${person.email} sets a new password here.${words} The link works once, for half an hour:`,
          '',
          `  ${url}`,
        ],
        json: { email: person.email, second_factor_off: withoutApp, url },
      }
    },
  },
]

async function requireByEmail({ db }: Call, email: string) {
  const person = await findPerson(await db(), email)
  if (!person) throw new Misuse(`Nobody has the address "${email}". parley user list shows who there is.`)
  return person
}

function readRole(text: string): Role {
  const role = roles.find((each) => each === text)
  if (!role) throw new Misuse(`--role is "${text}", but it takes one of ${roles.join(', ')}.`)
  return role
}

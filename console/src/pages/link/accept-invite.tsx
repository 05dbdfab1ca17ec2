import { type Role, roles } from '@parley/contract/console/permissions'
import type { LinkReply } from '@parley/contract/console/session'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Stack } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import { useAcceptInvite, useSignOutHere } from './link.queries.ts'

/** An invitation, for someone who is signed in: no password, but only the invited person may accept it. */
export function AcceptInvite({ token, link, onDone }: { token: string; link: LinkReply; onDone: () => void }) {
  const accept = useAcceptInvite(token)
  const signOut = useSignOutHere()
  const who = <bdi>{link.signed_in_as}</bdi>
  if (link.email !== link.signed_in_as) {
    return (
      <Stack gap={4}>
        <Notice tone="warn">
          You are signed in as {who}. Sign out to accept the invitation, or ask for one for that address.
        </Notice>
        <Button kind="primary" size="l" fullWidth busy={signOut.isPending} onClick={() => signOut.run()}>
          Sign out and continue
        </Button>
        <ButtonLink to="/" size="l" fullWidth>
          Stay signed in
        </ButtonLink>
      </Stack>
    )
  }
  return (
    <Stack gap={4}>
      <p>You are signed in as {who}.</p>
      {link.current_role && link.role && <Notice tone="note">{memberNotice(link.current_role, link.role)}</Notice>}
      <Button
        kind="primary"
        size="l"
        fullWidth
        busy={accept.isPending}
        onClick={() => accept.run(undefined, { onDone })}
      >
        {link.current_role ? 'Continue' : 'Join'}
      </Button>
    </Stack>
  )
}

/** An invitation can raise a role, and never lowers it. */
function memberNotice(current: Role, invited: Role): string {
  return roles.indexOf(invited) < roles.indexOf(current)
    ? `You are already a member, as ${current}. Your role changes to ${invited}.`
    : `You are already a member, as ${current}. You keep this role.`
}

import { BusinessProfile } from '@parley/contract/console/senders'
import { SenderId } from '@parley/contract/ids'
import { Type } from 'typebox'
import { type ConsoleRoute, type WorkspaceContext, workspaceRoute } from '../../http/console/route.ts'
import { Strict } from '../../http/console/shapes.ts'
import type { Network } from './network.ts'
import { changeNumber, type NumberChange, readBusinessProfile } from './numbers.ts'

const BySender = Strict({ id: SenderId })
const Text = Type.String({ maxLength: 5000 })

/** Manage the numbers of a workspace in the console. They call WhatsApp, so no transaction may be open. */
export const numberConsoleRoutes = ({ network }: { network: Network }): ConsoleRoute[] => {
  const change = ({ workspaceId, audit }: WorkspaceContext, senderId: string, wanted: NumberChange): Promise<void> =>
    changeNumber(network, { workspaceId, senderId }, wanted, audit)
  const common = {
    who: 'senders:manage',
    confirmed: true,
    params: BySender,
    ownTransactions: true,
  } as const
  return [
    workspaceRoute({
      ...common,
      method: 'POST',
      path: '/senders/:id/register',
      body: Strict({ pin: Text }),
      handle: (context, { params, body }) => change(context, params.id, { action: 'register', ...body }),
    }),
    workspaceRoute({
      ...common,
      method: 'PUT',
      path: '/senders/:id/pin',
      body: Strict({ pin: Text }),
      handle: (context, { params, body }) => change(context, params.id, { action: 'pin', ...body }),
    }),
    workspaceRoute({
      ...common,
      method: 'PUT',
      path: '/senders/:id/name',
      body: Strict({ name: Text }),
      handle: (context, { params, body }) => change(context, params.id, { action: 'name', ...body }),
    }),
    workspaceRoute({
      method: 'GET',
      path: '/senders/:id/profile',
      who: 'senders:manage',
      params: BySender,
      reply: BusinessProfile,
      handle: ({ workspaceId }, { params }) => readBusinessProfile(network, { workspaceId, senderId: params.id }),
    }),
    workspaceRoute({
      ...common,
      method: 'PATCH',
      path: '/senders/:id/profile',
      body: Type.Partial(BusinessProfile, { additionalProperties: false }),
      handle: (context, { params, body: profile }) => change(context, params.id, { action: 'profile', profile }),
    }),
  ]
}

import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Json } from '../json.ts'
import type { Network } from '../network.ts'
import type { Flow, Waba } from '../world.ts'
import { type Call, edge } from './call.ts'
import { pageOf, pick, requestedFields } from './listing.ts'

export const flowEdges = [
  edge('GET', 'waba', 'flows', listFlows),
  edge('GET', 'flow', null, (call, flow) => pick(flowNode(call, flow), requestedFields(call) ?? [...listFields])),
  edge('GET', 'flow', 'assets', listAssets),
]

const listFields = ['name', 'status', 'categories', 'validation_errors']

function listFlows(call: Call, waba: Waba): unknown {
  const fields = requestedFields(call) ?? listFields
  const rows = [...call.network.world.flows.values()]
    .filter((flow) => flow.wabaId === waba.id)
    .map((flow) => pick(flowNode(call, flow), fields))
  return pageOf(call, `${waba.id}/flows`, rows)
}

function flowNode({ network }: Call, flow: Flow): Json {
  const waba = network.world.wabas.get(flow.wabaId)
  return {
    id: flow.id,
    name: flow.name,
    status: flow.status,
    categories: flow.categories,
    validation_errors: [],
    json_version: flow.json.version,
    data_api_version: flow.json.data_api_version,
    endpoint_uri: undefined,
    data_channel_uri: undefined,
    preview: { preview_url: assetUrl(network, flow), expires_at: '2099-01-01T00:00:00+0000' },
    whatsapp_business_account: { id: flow.wabaId, name: waba?.name },
    health_status: {
      can_send_message: 'AVAILABLE',
      entities: [{ entity_type: 'FLOW', id: flow.id, can_send_message: 'AVAILABLE' }],
    },
    updated_at: flow.updatedAt,
  }
}

function listAssets({ network }: Call, flow: Flow): unknown {
  return {
    data: [{ name: 'flow.json', asset_type: 'FLOW_JSON', download_url: assetUrl(network, flow) }],
    paging: { cursors: { before: 'QVFIUbefore', after: 'QVFIUafter' } },
  }
}

/** Like on the real asset host, the URL works without a token. */
function assetUrl(network: Network, flow: Flow): string {
  return `${network.url}/flow_assets/${flow.id}/${keyOf(flow)}/flow.json`
}

function keyOf(flow: Flow): string {
  return createHash('sha256').update(`${flow.id} ${flow.updatedAt}`).digest('base64url').slice(0, 24)
}

export function assetRoutes(server: FastifyInstance, network: Network): void {
  server.get('/flow_assets/:id/:key/flow.json', (request, reply) => {
    const { id, key } = request.params as { id: string; key: string }
    const flow = network.world.flows.get(id)
    return flow && key === keyOf(flow) ? reply.send(flow.json) : reply.code(404).type('text/plain').send('Not found')
  })
}

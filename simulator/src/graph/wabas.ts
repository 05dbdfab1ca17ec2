import { textIn } from '../json.ts'
import { refuseParameter } from '../network/errors.ts'
import type { Waba } from '../world.ts'
import { type Call, edge } from './call.ts'
import { setOverride } from './callbacks.ts'
import { pageOf, pick, requestedFields } from './listing.ts'

export const wabaEdges = [
  edge('GET', 'waba', null, showWaba),
  edge('GET', 'waba', 'subscribed_apps', listSubscriptions),
  edge('POST', 'waba', 'subscribed_apps', subscribe),
  edge('DELETE', 'waba', 'subscribed_apps', unsubscribe),
  edge('GET', 'waba', 'product_catalogs', listCatalogs),
  edge('GET', 'catalog', 'products', (call, catalog) =>
    pageOf(
      call,
      `${catalog.id}/products`,
      catalog.products.map((product) => ({
        id: product.retailerId,
        retailer_id: product.retailerId,
        name: product.name,
        price: `${product.price.toFixed(2)} ${product.currency}`,
      })),
    ),
  ),
]

function showWaba(call: Call, waba: Waba): unknown {
  const fields = requestedFields(call) ?? ['name', 'timezone_id', 'message_template_namespace']
  return pick(
    {
      id: waba.id,
      name: waba.name,
      timezone_id: waba.timezoneId,
      currency: waba.currency,
      account_review_status: 'APPROVED',
      message_template_namespace: `${waba.id}_namespace`,
      status: 'ACTIVE',
    },
    fields,
  )
}

function listSubscriptions({ network }: Call, waba: Waba): unknown {
  const data = Object.entries(waba.subscriptions).map(([appId, { override }]) => {
    const name = network.world.apps.get(appId)?.name ?? appId
    return {
      whatsapp_business_api_data: { id: appId, name, link: `https://www.facebook.com/games/?app_id=${appId}` },
      ...(override ? { override_callback_uri: override.url } : {}),
    }
  })
  return { data }
}

/** Without a body the override is removed, and the app's callback is used again. */
async function subscribe(call: Call, waba: Waba): Promise<unknown> {
  const isOverride = textIn(call.body, 'override_callback_uri') !== undefined
  if (isOverride && !waba.subscriptions[call.token.appId])
    refuseParameter(
      'Before override the current callback uri, your app must be subscribed to receive messages for WhatsApp Business Account',
    )
  const override = isOverride ? await setOverride(call, call.body) : null
  waba.subscriptions[call.token.appId] = { override }
  call.network.changed()
  return { success: true }
}

function unsubscribe(call: Call, waba: Waba): unknown {
  delete waba.subscriptions[call.token.appId]
  call.network.changed()
  return { success: true }
}

function listCatalogs(call: Call, waba: Waba): unknown {
  const rows = [...call.network.world.catalogs.values()]
    .filter((catalog) => catalog.wabaId === waba.id)
    .map(({ id, name }) => ({ id, name }))
  return pageOf(call, `${waba.id}/product_catalogs`, rows)
}

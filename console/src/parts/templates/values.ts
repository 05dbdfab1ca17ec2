import type { TemplateVariable } from '@parley/contract/template'

/** The text entered for each variable, by key. */
export type Values = Readonly<Record<string, string>>

export const examplesOf = (variables: readonly TemplateVariable[]): Values =>
  Object.fromEntries(variables.map(({ key, example, type }) => [key, example ?? samples[type] ?? '']))

const samples: Readonly<Record<string, string>> = {
  location: '{"latitude": 52.52, "longitude": 13.405, "name": "Berlin", "address": "Mitte"}',
  product: '{"catalog_id": "", "product_retailer_id": ""}',
  products: '{"thumbnail_product_retailer_id": "", "sections": [{"title": "", "product_retailer_ids": [""]}]}',
}

/** Whether values of this type are objects, entered as JSON. */
export const isObject = (type: TemplateVariable['type']) => ['location', 'product', 'products'].includes(type)

/** The values for the API: empty ones are omitted, objects are parsed from JSON. */
export function valuesToSend(variables: readonly TemplateVariable[], values: Values): Record<string, unknown> {
  return Object.fromEntries(
    variables.flatMap(({ key, type }) => {
      const text = values[key] ?? ''
      return text === '' ? [] : [[key, isObject(type) ? parseObject(text) : text]]
    }),
  )
}

/** Invalid JSON stays text, so that the API reports the error. */
function parseObject(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

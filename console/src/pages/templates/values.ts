import type { TemplateVariable } from '@parley/contract/template'

/** What was typed for each variable, by its key. */
export type Values = Readonly<Record<string, string>>

export const examplesOf = (variables: readonly TemplateVariable[]): Values =>
  Object.fromEntries(variables.map(({ key, example, type }) => [key, example ?? samples[type] ?? '']))

const samples: Readonly<Record<string, string>> = {
  location: '{"latitude": 52.52, "longitude": 13.405, "name": "Berlin", "address": "Mitte"}',
  product: '{"catalog_id": "", "product_retailer_id": ""}',
  products: '{"thumbnail_product_retailer_id": "", "sections": [{"title": "", "product_retailer_ids": [""]}]}',
}

/** Whether a value of this type is an object, and therefore typed as JSON. */
export const isObject = (type: TemplateVariable['type']) => ['location', 'product', 'products'].includes(type)

/** As the API takes them: empty ones left out, objects read from their JSON. */
export function valuesToSend(variables: readonly TemplateVariable[], values: Values): Record<string, unknown> {
  return Object.fromEntries(
    variables.flatMap(({ key, type }) => {
      const text = values[key] ?? ''
      return text === '' ? [] : [[key, isObject(type) ? readObject(text) : text]]
    }),
  )
}

/** What is not JSON stays text; the service says what is wrong with it. */
function readObject(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

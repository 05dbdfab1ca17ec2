import { sendMessage } from './actions.ts'
import { button, el, fill } from './dom.ts'
import { icon } from './icons.ts'
import { openSheet } from './sheet.ts'
import { business, state } from './state.ts'
import { money, seedOf } from './text.ts'

/** The catalog of the business, with a cart that is sent as an order. */
export function openCatalog(skus: string[] = []): void {
  const catalog = state.catalogs.find(({ wabaId }) => wabaId === business()?.wabaId)
  const products = (catalog?.products ?? []).filter(({ retailerId }) => skus.length === 0 || skus.includes(retailerId))
  const cart = new Map<string, number>()
  openSheet(catalog?.name ?? 'Catalog', ({ close }) => {
    if (!catalog || products.length === 0) return el('p', { class: 'nothing' }, 'This business has no catalog.')
    const order = el('button', { type: 'button', class: 'primary', disabled: true }, 'Add a product')
    const note = el('input', {
      type: 'text',
      class: 'caption',
      placeholder: 'Note to the business',
      'aria-label': 'Note',
      maxlength: 1000,
    })
    const updateTotal = () => {
      const chosen = products.filter(({ retailerId }) => (cart.get(retailerId) ?? 0) > 0)
      const sum = chosen.reduce((total, { retailerId, price }) => total + price * (cart.get(retailerId) ?? 0), 0)
      order.disabled = chosen.length === 0
      order.textContent =
        chosen.length === 0 ? 'Add a product' : `Send order · ${money(sum, chosen[0]?.currency ?? '')}`
    }
    order.addEventListener('click', () => {
      close()
      const items = [...cart].filter(([, quantity]) => quantity > 0)
      void sendMessage(
        'order',
        {
          catalogId: catalog.id,
          text: note.value,
          items: items.map(([retailerId, quantity]) => ({ retailerId, quantity })),
        },
        'Order',
      )
    })
    return [
      products.map((product) => {
        const count = el('span', { class: 'count', 'aria-live': 'polite' })
        const add = (step: number) => {
          cart.set(product.retailerId, Math.min(99, Math.max(0, (cart.get(product.retailerId) ?? 0) + step)))
          fill(count, String(cart.get(product.retailerId)))
          updateTotal()
        }
        fill(count, '0')
        return el(
          'div',
          { class: 'product' },
          el('span', { class: `product-picture shade-${seedOf(product.name) % 8}` }, icon('bag', 22)),
          el(
            'span',
            { class: 'product-words' },
            el('strong', {}, product.name),
            el('span', {}, `${money(product.price, product.currency)} · ${product.retailerId}`),
          ),
          button(
            { class: 'round small', 'aria-label': `Remove one ${product.name}` },
            () => add(-1),
            icon('minus', 16),
          ),
          count,
          button({ class: 'round small', 'aria-label': `Add one ${product.name}` }, () => add(1), icon('plus', 16)),
        )
      }),
      note,
      order,
    ]
  })
}

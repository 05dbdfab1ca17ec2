import { write } from './acts.ts'
import { button, el, fill } from './dom.ts'
import { icon } from './icons.ts'
import { openSheet } from './sheet.ts'
import { business, state } from './state.ts'
import { money, seedOf } from './text.ts'

/** The shop: what the business sells, and a cart that is sent as an order. */
export function openCatalogue(skus: string[] = []): void {
  const catalog = state.catalogs.find(({ wabaId }) => wabaId === business()?.wabaId)
  const products = (catalog?.products ?? []).filter(({ retailerId }) => skus.length === 0 || skus.includes(retailerId))
  const cart = new Map<string, number>()
  openSheet(catalog?.name ?? 'Shop', ({ close }) => {
    if (!catalog || products.length === 0) return el('p', { class: 'nothing' }, 'This business has no catalogue.')
    const order = el('button', { type: 'button', class: 'primary', disabled: true }, 'Choose something')
    const note = el('input', {
      type: 'text',
      class: 'caption',
      placeholder: 'A note for the shop',
      'aria-label': 'Note',
      maxlength: 1000,
    })
    const total = () => {
      const chosen = products.filter(({ retailerId }) => (cart.get(retailerId) ?? 0) > 0)
      const sum = chosen.reduce((sofar, { retailerId, price }) => sofar + price * (cart.get(retailerId) ?? 0), 0)
      order.disabled = chosen.length === 0
      order.textContent =
        chosen.length === 0 ? 'Choose something' : `Send order · ${money(sum, chosen[0]?.currency ?? '')}`
    }
    order.addEventListener('click', () => {
      close()
      const items = [...cart].filter(([, quantity]) => quantity > 0)
      void write(
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
          total()
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
          button({ class: 'round small', 'aria-label': `One ${product.name} less` }, () => add(-1), icon('minus', 16)),
          count,
          button({ class: 'round small', 'aria-label': `One ${product.name} more` }, () => add(1), icon('plus', 16)),
        )
      }),
      note,
      order,
    ]
  })
}

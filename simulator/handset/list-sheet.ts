import { performAction } from './actions.ts'
import type { Message } from './api.ts'
import type { Section } from './card.ts'
import { button, el } from './dom.ts'
import { openSheet } from './sheet.ts'

/** The rows of a list message. A tap sends the row as a reply. */
export function openList(title: string, sections: Section[], message: Message): void {
  openSheet(title, ({ close }) =>
    sections.map((section) =>
      el(
        'section',
        { class: 'choices' },
        section.title && el('h3', {}, section.title),
        section.rows.map((row) =>
          button(
            { class: 'choice' },
            () => {
              close()
              void performAction('tap', { message: message.id, button: row.position }, row.title)
            },
            el('strong', {}, row.title),
            row.description && el('span', {}, row.description),
          ),
        ),
      ),
    ),
  )
}

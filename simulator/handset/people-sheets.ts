import { attempt, write } from './acts.ts'
import { control } from './api.ts'
import { avatar } from './avatar.ts'
import { button, el } from './dom.ts'
import { textField } from './field.ts'
import { chooseChat } from './live.ts'
import { openSheet } from './sheet.ts'
import { changed, state } from './state.ts'
import { formatPhone } from './text.ts'

/** Somebody new, with a number of their own. */
export function openNewPerson(): void {
  openSheet('Somebody new', ({ close }) => {
    const name = textField('Name', { name: 'name', maxlength: 100, placeholder: 'Mina Park' }, (text) =>
      text ? undefined : 'Everybody has a name.',
    )
    const number = textField(
      'Phone number',
      { name: 'number', inputmode: 'tel', placeholder: '+49 170 7654321' },
      (text) =>
        /^\+?[1-9][\d\s()-]{6,20}$/.test(text) ? undefined : 'A number in international form, such as +49 170 7654321.',
    )
    const add = async () => {
      const digits = number.read()?.replaceAll(/\D/g, '')
      const called = name.read()
      if (!digits || !called) return
      const phone = await attempt(() => control.changePhone(digits, { name: called }))
      if (!phone) return
      if (!state.people.some(({ waId }) => waId === phone.waId)) state.people.push(phone)
      changed('people')
      close()
      await chooseChat(phone.waId, state.to)
    }
    return [name.view, number.view, button({ class: 'primary' }, () => void add(), 'Hand them the phone')]
  })
}

/** Shares somebody's contact card. */
export function openContact(): void {
  openSheet('Share a contact', ({ close }) =>
    state.people
      .filter(({ waId }) => waId !== state.me)
      .slice(0, 30)
      .map((person) => {
        const [first = '', ...rest] = person.name.split(' ')
        const contact = {
          name: {
            formatted_name: person.name,
            first_name: first,
            ...(rest.length ? { last_name: rest.join(' ') } : {}),
          },
          phones: [{ phone: formatPhone(person.waId), wa_id: person.waId, type: 'CELL' }],
        }
        const send = () => {
          close()
          void write('contacts', { contacts: [contact] }, person.name)
        }
        return button(
          { class: 'choice with-icon' },
          send,
          avatar(person.name),
          el('span', {}, el('strong', {}, person.name), el('span', {}, formatPhone(person.waId))),
        )
      }),
  )
}

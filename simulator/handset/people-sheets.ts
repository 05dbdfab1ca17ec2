import { sendMessage, withErrorToast } from './actions.ts'
import { control } from './api.ts'
import { avatar } from './avatar.ts'
import { chooseChat } from './connection.ts'
import { button, el } from './dom.ts'
import { textField } from './field.ts'
import { openSheet } from './sheet.ts'
import { changed, state } from './state.ts'
import { formatPhone } from './text.ts'

/** Adds a phone with a name and a number. */
export function openNewPhone(): void {
  openSheet('New phone', ({ close }) => {
    const name = textField('Name', { name: 'name', maxlength: 100, placeholder: 'Mina Park' }, (text) =>
      text ? undefined : 'Enter a name.',
    )
    const number = textField(
      'Phone number',
      { name: 'number', inputmode: 'tel', placeholder: '+49 170 7654321' },
      (text) =>
        /^\+?[1-9][\d\s()-]{6,20}$/.test(text)
          ? undefined
          : 'Enter the phone number in international format, for example +49 170 7654321.',
    )
    const add = async () => {
      const digits = number.read()?.replaceAll(/\D/g, '')
      const nameText = name.read()
      if (!digits || !nameText) return
      const phone = await withErrorToast(() => control.changePhone(digits, { name: nameText }))
      if (!phone) return
      if (!state.people.some(({ waId }) => waId === phone.waId)) state.people.push(phone)
      changed('people')
      close()
      await chooseChat(phone.waId, state.to)
    }
    return [name.view, number.view, button({ class: 'primary' }, () => void add(), 'Add phone')]
  })
}

/** Shares the contact card of another phone. */
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
          void sendMessage('contacts', { contacts: [contact] }, person.name)
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

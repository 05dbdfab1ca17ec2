import type { ConsoleSender } from '@parley/contract/console/senders'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { formatPhone } from '../../../lib/phone.ts'
import { useConnectedSenders } from '../../../parts/recipient.tsx'
import { Radio, Select, TextInput } from '../../../ui/fields.tsx'
import { Card, Grid, Stack } from '../../../ui/layout.tsx'
import styles from './editor.module.css'
import { languageOptionsWith } from './languages.ts'
import { RejectedNotice } from './rejected-notice.tsx'
import type { Editor } from './use-editor.ts'
import { type EditorValues, withCategory } from './values.ts'

const categories: readonly { value: EditorValues['category']; title: string; detail: string }[] = [
  {
    value: 'UTILITY',
    title: 'Utility',
    detail: 'About something the person did or asked for: an order, an appointment, an invoice.',
  },
  {
    value: 'MARKETING',
    title: 'Marketing',
    detail: 'Offers, news and invitations. People can stop marketing messages.',
  },
  {
    value: 'AUTHENTICATION',
    title: 'Authentication',
    detail: 'A one-time code to sign in or confirm something. WhatsApp writes the text.',
  },
]

/** A connected WhatsApp account and its senders. */
export interface Account {
  account: string
  senders: readonly ConsoleSender[]
}

export function useAccounts(): Account[] {
  const senders = useConnectedSenders()
  const names = [...new Set(senders.map(({ connection }) => connection.account))]
  return names.map((account) => ({
    account,
    senders: senders.filter(({ connection }) => connection.account === account),
  }))
}

interface Props {
  editor: Editor
  /** The accounts to choose from. One needs no choice. */
  accounts: readonly Account[]
  /** The template that is edited. WhatsApp does not let its name and language change. */
  edited: ConsoleTemplate | null
}

/** Name, language, category and account. */
export function Basics({ editor, accounts, edited }: Props) {
  const { values } = editor
  return (
    <Card title="Name and category">
      <Stack>
        <RejectedNotice template={edited} part="category" />
        <Grid min={240}>
          <TextInput
            label="Name"
            description={edited ? 'The name cannot be changed.' : 'Lower-case letters, digits and underscores.'}
            placeholder="order_update"
            value={values.name}
            disabled={edited !== null}
            maxLength={600}
            autoComplete="off"
            spellCheck={false}
            {...editor.at('name')}
            onChange={(event) => {
              editor.touch('name')
              editor.set({ name: event.currentTarget.value })
            }}
          />
          <Select
            label="Language"
            description={edited ? 'The language cannot be changed.' : 'The language of the texts below.'}
            searchable
            data={languageOptionsWith(values.language)}
            value={values.language}
            disabled={edited !== null}
            allowDeselect={false}
            nothingFoundMessage="No such language"
            {...editor.at('language')}
            onChange={(language) => editor.set({ language: language ?? '' })}
          />
          {accounts.length > 1 && !edited && (
            <Select
              label="WhatsApp account"
              description="Only the senders of this account can send it."
              data={accounts.map(({ account, senders }) => ({ value: account, label: accountName(account, senders) }))}
              value={values.account ?? accounts[0]?.account ?? null}
              allowDeselect={false}
              {...editor.at('account')}
              onChange={(account) => editor.set({ account })}
            />
          )}
        </Grid>
        <Radio.Group
          label="Category"
          description={
            edited?.status === 'APPROVED'
              ? 'The category of an approved template cannot be changed.'
              : 'WhatsApp rejects a template whose content does not fit its category.'
          }
          value={values.category}
          {...editor.at('category')}
          onChange={(category) => editor.set(withCategory(values, category as EditorValues['category']))}
        >
          <Stack gap={2}>
            {categories.map(({ value, title, detail }) => (
              <Radio
                key={value}
                value={value}
                label={
                  <span className={styles.category}>
                    {title}
                    <span className="small quiet">{detail}</span>
                  </span>
                }
                mt={value === 'UTILITY' ? 8 : 0}
                disabled={edited?.status === 'APPROVED'}
              />
            ))}
          </Stack>
        </Radio.Group>
      </Stack>
    </Card>
  )
}

const accountName = (account: string, senders: readonly ConsoleSender[]) =>
  `${senders.map(({ display_name, phone_number }) => display_name ?? formatPhone(phone_number)).join(', ')} · ${account}`

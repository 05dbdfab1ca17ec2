import { buttonLimits, buttonsMax } from '@parley/contract/console/template-button-rules'
import { variablesIn } from '@parley/contract/console/template-draft'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Select, TextInput } from '../../../ui/fields.tsx'
import { Card, Grid, Row, Stack } from '../../../ui/layout.tsx'
import { Menu } from '../../../ui/menu.tsx'
import styles from './editor.module.css'
import { RejectedNotice } from './rejected-notice.tsx'
import type { Editor } from './use-editor.ts'
import { type ButtonValues, isUsed, newButton } from './values.ts'

const kinds: Readonly<Record<ButtonValues['type'], string>> = {
  QUICK_REPLY: 'Quick reply',
  URL: 'Link',
  PHONE_NUMBER: 'Phone call',
  COPY_CODE: 'Copy offer code',
  FLOW: 'Form',
  OTP: 'Copy code',
}

interface Props {
  editor: Editor
  edited: ConsoleTemplate | null
}

/** The buttons below the message: added, edited, moved and removed. */
export function ButtonFields({ editor, edited }: Props) {
  const { buttons: all, category } = editor.values
  const isCode = category === 'AUTHENTICATION'
  const buttons = all.filter((button) => isUsed(button, category))
  const setButtons = (changed: readonly ButtonValues[]) => {
    editor.touch('buttons')
    editor.set({ buttons: [...changed, ...all.filter((button) => !isUsed(button, category))] })
  }
  const move = (from: number, to: number) => {
    const moved = buttons.toSpliced(from, 1)
    setButtons(moved.toSpliced(to, 0, buttons[from] as ButtonValues))
  }
  const { error } = editor.at('buttons')
  return (
    <Card
      title="Buttons"
      detail={
        isCode
          ? 'One button that fills in or copies the code.'
          : `Optional, at most ${buttonsMax}. A tap on a quick reply reaches you as a message.`
      }
    >
      <Stack>
        <RejectedNotice template={edited} part="buttons" />
        {buttons.map((button, index) => (
          <fieldset key={button.key} className={styles.button}>
            <legend className="unseen">
              Button {index + 1}: {kinds[button.type]}
            </legend>
            <Row justify="space-between" wrap={false}>
              <span className={styles.kind}>{kinds[button.type]}</span>
              {!isCode && (
                <Row gap={1} wrap={false}>
                  <IconButton
                    icon="arrowUp"
                    label={`Move button ${index + 1} up`}
                    disabled={index === 0}
                    onClick={() => move(index, index - 1)}
                  />
                  <IconButton
                    icon="arrowDown"
                    label={`Move button ${index + 1} down`}
                    disabled={index === buttons.length - 1}
                    onClick={() => move(index, index + 1)}
                  />
                  <IconButton
                    icon="trash"
                    label={`Remove button ${index + 1}`}
                    onClick={() => setButtons(buttons.toSpliced(index, 1))}
                  />
                </Row>
              )}
            </Row>
            <OneButton editor={editor} button={button} index={index} />
          </fieldset>
        ))}
        {!isCode && (
          <div data-path="buttons">
            <Menu
              label="Add button"
              groups={[
                Object.entries(buttonLimits).map(([type, max]) => ({
                  title: kinds[type as ButtonValues['type']],
                  disabled: buttons.filter((button) => button.type === type).length >= max,
                  onSelect: () => setButtons([...buttons, newButton(type as ButtonValues['type'], all)]),
                })),
              ]}
              trigger={
                <Button
                  icon="plus"
                  size="s"
                  disabled={buttons.length >= buttonsMax}
                  aria-describedby={error ? 'buttons-error' : undefined}
                >
                  Add button
                </Button>
              }
            />
          </div>
        )}
        {error && (
          <p id="buttons-error" className={styles.error}>
            {error}
          </p>
        )}
      </Stack>
    </Card>
  )
}

function OneButton({ editor, button, index }: { editor: Editor; button: ButtonValues; index: number }) {
  const { buttons } = editor.values
  const set = (change: Partial<ButtonValues>) =>
    editor.set({ buttons: buttons.map((each) => (each.key === button.key ? { ...each, ...change } : each)) })
  type TextName = 'text' | 'url' | 'example' | 'phone' | 'flowId' | 'screen' | 'packageName' | 'signature'
  const text = (name: TextName, path: string) => ({
    value: button[name],
    autoComplete: 'off',
    ...editor.at(`buttons.${index}.${path}`),
    onChange: (event: { currentTarget: { value: string } }) => {
      editor.touch(`buttons.${index}.${path}`)
      set({ [name]: event.currentTarget.value })
    },
  })
  const { type } = button
  return (
    <Grid min={200} gap={3}>
      {type !== 'COPY_CODE' && (
        <TextInput
          label="Button text"
          placeholder={type === 'OTP' ? 'WhatsApp’s text' : undefined}
          {...text('text', 'text')}
        />
      )}
      {type === 'URL' && (
        <TextInput
          label="URL"
          placeholder="https://shop.example/orders/{{1}}"
          inputMode="url"
          {...text('url', 'url')}
        />
      )}
      {type === 'URL' && variablesIn(button.url).length > 0 && (
        <TextInput
          label={
            <>
              Example for <span className="mono">{'{{1}}'}</span>
            </>
          }
          placeholder="A-1001"
          {...text('example', 'example')}
        />
      )}
      {type === 'PHONE_NUMBER' && (
        <TextInput
          label="Phone number"
          placeholder="+1 555 078 0001"
          inputMode="tel"
          {...text('phone', 'phone_number')}
        />
      )}
      {type === 'COPY_CODE' && (
        <TextInput
          label="Example of the code"
          description="WhatsApp writes the text of the button."
          placeholder="SUMMER25"
          {...text('example', 'example')}
        />
      )}
      {type === 'FLOW' && (
        <>
          <TextInput
            label="Form ID"
            description="The ID of a published form (Flow) in WhatsApp Manager."
            inputMode="numeric"
            {...text('flowId', 'flow_id')}
          />
          <TextInput
            label="First screen"
            description="Optional. The form’s own first screen if empty."
            {...text('screen', 'navigate_screen')}
          />
        </>
      )}
      {type === 'OTP' && (
        <>
          <Select
            label="How the code arrives"
            data={[
              { value: 'COPY_CODE', label: 'The person copies it' },
              { value: 'ONE_TAP', label: 'One tap fills it in (Android)' },
              { value: 'ZERO_TAP', label: 'It is filled in without a tap (Android)' },
            ]}
            value={button.otp}
            allowDeselect={false}
            {...editor.at(`buttons.${index}.otp_type`)}
            onChange={(otp) => set({ otp: otp as ButtonValues['otp'] })}
          />
          {button.otp !== 'COPY_CODE' && (
            <>
              <TextInput
                label="Package name of your app"
                placeholder="com.example.shop"
                {...text('packageName', 'supported_apps')}
              />
              <TextInput
                label="Signature hash of your app"
                placeholder="K8a/AINcGX7"
                {...text('signature', 'supported_apps')}
              />
            </>
          )}
        </>
      )}
    </Grid>
  )
}

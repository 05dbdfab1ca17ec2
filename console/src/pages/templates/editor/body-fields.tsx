import { bodyMax, footerMax } from '@parley/contract/console/template-rules'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useLayoutEffect, useRef } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Switch, Textarea, TextInput } from '../../../ui/fields.tsx'
import { Card, Row, Stack } from '../../../ui/layout.tsx'
import styles from './editor.module.css'
import { ExampleFields } from './example-fields.tsx'
import { RejectedNotice } from './rejected-notice.tsx'
import type { Editor } from './use-editor.ts'
import { nextVariable } from './values.ts'

interface Props {
  editor: Editor
  edited: ConsoleTemplate | null
}

const marks = [
  { label: 'Bold', mark: '*', sign: <strong>B</strong> },
  { label: 'Italic', mark: '_', sign: <em>I</em> },
  { label: 'Strikethrough', mark: '~', sign: <s>S</s> },
  { label: 'Monospace', mark: '```', sign: <span className="mono">{'<>'}</span> },
]

/** The text of the message, with its formatting and variables. */
export function BodyFields({ editor, edited }: Props) {
  const { body } = editor.values
  const area = useRef<HTMLTextAreaElement>(null)
  // The selection after an insertion, set once the text is rendered.
  const selection = useRef<[number, number] | null>(null)
  useLayoutEffect(() => {
    if (!selection.current) return
    area.current?.focus()
    area.current?.setSelectionRange(...selection.current)
    selection.current = null
  })
  const setText = (text: string) => {
    editor.touch('body.text')
    editor.change('body', { text })
  }
  const insert = (before: string, after = '') => {
    const { selectionStart: start, selectionEnd: end } = area.current ?? { selectionStart: 0, selectionEnd: 0 }
    const { text } = body
    setText(text.slice(0, start) + before + text.slice(start, end) + after + text.slice(end))
    selection.current = [start + before.length, end + before.length]
  }
  return (
    <Card title="Body" detail="The text of the message.">
      <Stack>
        <RejectedNotice template={edited} part="body" />
        <Textarea
          label="Text"
          description={
            <>
              {[...body.text].length} of {bodyMax} characters. Format with *bold*, _italic_, ~strikethrough~ and
              ```monospace```.
            </>
          }
          placeholder={'Hello {{1}}, your order {{2}} is on its way.'}
          autosize
          minRows={4}
          maxRows={16}
          ref={area}
          value={body.text}
          {...editor.at('body.text')}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Row>
          {marks.map(({ label, mark, sign }) => (
            <Button key={label} size="s" aria-label={label} className={styles.mark} onClick={() => insert(mark, mark)}>
              {sign}
            </Button>
          ))}
          <Button size="s" icon="plus" onClick={() => insert(nextVariable(body.text))}>
            Add variable
          </Button>
        </Row>
        <ExampleFields editor={editor} part="body" />
      </Stack>
    </Card>
  )
}

export function FooterFields({ editor, edited }: Props) {
  const { footer } = editor.values
  return (
    <Card title="Footer" detail="Optional. In small letters below the text.">
      <Stack>
        <RejectedNotice template={edited} part="footer" />
        <TextInput
          label="Footer text"
          description={`${[...footer.text].length} of ${footerMax} characters, without variables.`}
          placeholder="Harbour Clinic"
          value={footer.text}
          autoComplete="off"
          {...editor.at('footer.text')}
          onChange={(event) => {
            editor.touch('footer.text')
            editor.change('footer', { text: event.currentTarget.value })
          }}
        />
      </Stack>
    </Card>
  )
}

/** Body and footer of an authentication template, whose texts WhatsApp writes. */
export function CodeFields({ editor, edited }: Props) {
  const { body, footer } = editor.values
  return (
    <Card title="Code" detail="WhatsApp writes the text in the language of the template.">
      <Stack>
        <RejectedNotice template={edited} part="body" />
        <RejectedNotice template={edited} part="footer" />
        <Switch
          label="Advise people not to share the code"
          checked={body.advises}
          onChange={(event) => editor.change('body', { advises: event.currentTarget.checked })}
        />
        <TextInput
          label="The code expires after"
          description="Minutes, 1 to 90. Leave it empty to say nothing."
          inputMode="numeric"
          maw={240}
          value={footer.minutes}
          {...editor.at('footer.code_expiration_minutes')}
          onChange={(event) => {
            editor.touch('footer.code_expiration_minutes')
            editor.change('footer', { minutes: event.currentTarget.value.trim() })
          }}
        />
      </Stack>
    </Card>
  )
}

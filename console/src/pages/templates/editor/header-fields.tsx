import { headerFormats, variablesIn } from '@parley/contract/console/template-draft'
import { headerMax } from '@parley/contract/console/template-rules'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { plainWord } from '../../../lib/format.ts'
import { Button } from '../../../ui/button.tsx'
import { Select, TextInput } from '../../../ui/fields.tsx'
import { Card, Stack } from '../../../ui/layout.tsx'
import { ExampleFields } from './example-fields.tsx'
import { RejectedNotice } from './rejected-notice.tsx'
import type { Editor } from './use-editor.ts'
import { type EditorValues, nextVariable } from './values.ts'

/** The header: none, a text with at most one variable, a file or a location. */
export function HeaderFields({ editor, edited }: { editor: Editor; edited: ConsoleTemplate | null }) {
  const { header } = editor.values
  return (
    <Card title="Header" detail="Optional. Above the text.">
      <Stack>
        <RejectedNotice template={edited} part="header" />
        <Select
          label="Type"
          data={['NONE', ...headerFormats].map((value) => ({ value, label: plainWord(value) }))}
          value={header.format}
          allowDeselect={false}
          maw={240}
          {...editor.at('header.format')}
          onChange={(format) => editor.change('header', { format: format as EditorValues['header']['format'] })}
        />
        {header.format === 'TEXT' && <HeaderText editor={editor} />}
        {['IMAGE', 'VIDEO', 'DOCUMENT'].includes(header.format) && (
          <TextInput
            label={`Sample ${header.format.toLowerCase()}`}
            description="The handle of an example file from Meta’s Resumable Upload API. WhatsApp reviews it; each message has its own file."
            placeholder="4::aW1hZ2UvanBlZw==:ARZVv4…"
            value={header.sample}
            autoComplete="off"
            {...editor.at('header.example')}
            onChange={(event) => {
              editor.touch('header.example')
              editor.change('header', { sample: event.currentTarget.value })
            }}
          />
        )}
        {header.format === 'LOCATION' && (
          <p className="small quiet">
            Each message names its own location: a pin on a map, with a name and an address.
          </p>
        )}
      </Stack>
    </Card>
  )
}

function HeaderText({ editor }: { editor: Editor }) {
  const { header } = editor.values
  const setText = (text: string) => {
    editor.touch('header.text')
    editor.change('header', { text })
  }
  return (
    <>
      <TextInput
        label="Header text"
        description={`${[...header.text].length} of ${headerMax} characters. It can have one variable.`}
        value={header.text}
        autoComplete="off"
        {...editor.at('header.text')}
        onChange={(event) => setText(event.currentTarget.value)}
        rightSectionWidth={124}
        rightSection={
          variablesIn(header.text).length === 0 && (
            <Button
              kind="quiet"
              size="s"
              icon="plus"
              onClick={() => setText(`${header.text.trimEnd()} ${nextVariable('')}`.trimStart())}
            >
              Add variable
            </Button>
          )
        }
      />
      <ExampleFields editor={editor} part="header" />
    </>
  )
}

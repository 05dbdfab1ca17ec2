import { variablesIn } from '@parley/contract/console/template-draft'
import { TextInput } from '../../../ui/fields.tsx'
import { Grid } from '../../../ui/layout.tsx'
import type { Editor } from './use-editor.ts'

/** An example for each variable of a text, in the order of the text. */
export function ExampleFields({ editor, part }: { editor: Editor; part: 'header' | 'body' }) {
  const { text, examples } = editor.values[part]
  const names = variablesIn(text)
  if (names.length === 0) return null
  return (
    <Grid min={200}>
      {names.map((name) => {
        const path = `${part}.example.${name}`
        return (
          <TextInput
            key={name}
            label={
              <>
                Example for <span className="mono">{`{{${name}}}`}</span>
              </>
            }
            placeholder={placeholders[name] ?? 'Ana'}
            value={examples[name] ?? ''}
            autoComplete="off"
            {...editor.at(path)}
            onChange={(event) => {
              editor.touch(path)
              editor.change(part, { examples: { ...examples, [name]: event.currentTarget.value } })
            }}
          />
        )
      })}
    </Grid>
  )
}

const placeholders: Readonly<Record<string, string>> = { 2: 'A-1001', 3: 'Thursday' }

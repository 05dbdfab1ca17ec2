import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { templateBubble } from '../../../lib/bubble.ts'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { ChatBubble, ChatPaper } from '../../../ui/chat.tsx'
import { Form } from '../../../ui/form.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Card, Row, Stack } from '../../../ui/layout.tsx'
import { type Account, Basics } from './basics.tsx'
import { BodyFields, CodeFields, FooterFields } from './body-fields.tsx'
import { ButtonFields } from './button-fields.tsx'
import styles from './editor.module.css'
import { HeaderFields } from './header-fields.tsx'
import { RejectedNotice } from './rejected-notice.tsx'
import type { Editor } from './use-editor.ts'
import { draftOfValues, previewComponents, previewValues } from './values.ts'

interface Props {
  editor: Editor
  /** The template that is edited; null for a new one. */
  edited: ConsoleTemplate | null
  /** Where Cancel leads to. */
  cancel: string
  accounts?: readonly Account[]
}

/** The fields on the left; on the right the message as a phone shows it, and what is still missing. */
export function EditorForm({ editor, edited, cancel, accounts = [] }: Props) {
  const isCode = editor.values.category === 'AUTHENTICATION'
  return (
    <Form form={editor.form} className={styles.editor ?? ''}>
      <div className={styles.fields}>
        <RejectedNotice template={edited} part={null} />
        <Basics editor={editor} accounts={accounts} edited={edited} />
        {isCode ? (
          <CodeFields editor={editor} edited={edited} />
        ) : (
          <>
            <HeaderFields editor={editor} edited={edited} />
            <BodyFields editor={editor} edited={edited} />
            <FooterFields editor={editor} edited={edited} />
          </>
        )}
        <ButtonFields editor={editor} edited={edited} />
      </div>
      <div className={styles.aside}>
        <ChatPaper label="Preview" className={styles.preview}>
          <Preview editor={editor} />
        </ChatPaper>
        <Card>
          <Stack>
            <Missing editor={editor} />
            <Row>
              <Button type="submit" kind="primary" busy={editor.form.isPending}>
                Submit for review
              </Button>
              <ButtonLink to={cancel}>Cancel</ButtonLink>
            </Row>
          </Stack>
        </Card>
      </div>
    </Form>
  )
}

function Preview({ editor }: { editor: Editor }) {
  const bubble = templateBubble(previewComponents(draftOfValues(editor.values)), previewValues(editor.values))
  const isEmpty = !bubble.header && !bubble.body && !bubble.footer && !bubble.buttons?.length
  if (isEmpty) return <p className={styles.noPreview}>The message appears here as you write it.</p>
  return <ChatBubble bubble={bubble} />
}

/** What the rules still ask for. Each line leads to its field. */
function Missing({ editor: { problems, goTo } }: { editor: Editor }) {
  if (problems.length === 0) {
    return (
      <p className={styles.ready}>
        <Icon name="checkCircle" size={14} /> Ready. WhatsApp usually responds within minutes.
      </p>
    )
  }
  return (
    <div>
      <h2 className={styles.missingTitle}>Before you submit</h2>
      <ul className={styles.missing}>
        {problems.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <button type="button" className="link" onClick={() => goTo(path)}>
              {message}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

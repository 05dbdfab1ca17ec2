import { useMantineColorScheme } from '@mantine/core'
import { useNow } from '../../lib/clock.ts'
import { formatTime } from '../../lib/format.ts'
import { useLetterKeys } from '../../lib/keyboard.ts'
import { SegmentedControl, Switch } from '../../ui/fields.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Section } from '../../ui/layout.tsx'
import styles from './account.module.css'

/** What belongs to this browser, not to the account. */
export function PreferencesSection() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [letters, setLetters] = useLetterKeys()
  const now = useNow()
  return (
    <Section title="This browser" detail="Kept here and on no other device.">
      <div>
        <div className={styles.label} id="theme">
          Colours
        </div>
        <SegmentedControl
          aria-labelledby="theme"
          value={colorScheme}
          onChange={(value) => setColorScheme(value as 'light' | 'dark' | 'auto')}
          data={[
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
            { value: 'auto', label: 'As the system' },
          ]}
        />
      </div>
      <Switch
        label="Single-letter shortcuts"
        description="Turn them off if they get in the way of speech input or of another tool. Press ? for the list."
        checked={letters}
        onChange={(event) => setLetters(event.currentTarget.checked)}
      />
      <KeyValue
        facts={[
          { name: 'Time zone', value: Intl.DateTimeFormat().resolvedOptions().timeZone },
          { name: 'Time there', value: formatTime(new Date(now)) },
        ]}
      />
      <p className="quiet small">Times are shown in your browser’s zone; hover over one to see it in UTC.</p>
    </Section>
  )
}

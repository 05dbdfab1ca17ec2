import { useMantineColorScheme } from '@mantine/core'
import { useLetterKeys } from '../../lib/keyboard.ts'
import { SegmentedControl, Switch } from '../../ui/fields.tsx'
import { Section } from '../../ui/layout.tsx'
import styles from './account.module.css'

/** Settings stored in this browser, not in the account. */
export function PreferencesSection() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [letters, setLetters] = useLetterKeys()
  return (
    <Section title="This browser" detail="Stored in this browser only.">
      <div>
        <div className={styles.label} id="theme">
          Theme
        </div>
        <SegmentedControl
          aria-labelledby="theme"
          value={colorScheme}
          onChange={(value) => setColorScheme(value as 'light' | 'dark' | 'auto')}
          data={[
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
            { value: 'auto', label: 'System' },
          ]}
        />
      </div>
      <Switch
        label="Single-letter shortcuts"
        description="Turn off if they interfere with speech input or another tool. Press ? for the list."
        checked={letters}
        onChange={(event) => setLetters(event.currentTarget.checked)}
      />
    </Section>
  )
}

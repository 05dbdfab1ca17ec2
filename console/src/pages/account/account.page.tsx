import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { AuthenticatorSection } from './authenticator.tsx'
import { DevicesSection } from './devices.tsx'
import { NotificationsSection } from './notifications.tsx'
import { PasskeysSection } from './passkeys.tsx'
import { PasswordSection } from './password.tsx'
import { PreferencesSection } from './preferences.tsx'
import { ProfileSection } from './profile.tsx'
import { TimeZoneSection } from './time-zone.tsx'

export function AccountPage() {
  return (
    <>
      <PageHeader title="Your account" />
      <PageBody narrow>
        <div>
          <ProfileSection />
          <TimeZoneSection />
          <PasswordSection />
          <AuthenticatorSection />
          <PasskeysSection />
          <DevicesSection />
          <NotificationsSection />
          <PreferencesSection />
        </div>
      </PageBody>
    </>
  )
}

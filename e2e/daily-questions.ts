import type { Locator, Page } from 'playwright-core'

/** How a person gets from the overview to the result. Every step is a click; typing a name into the search is one too. */
export interface Way {
  click(target: Locator): Promise<void>
  /** A page of the navigation. */
  go(name: string): Promise<void>
  search(text: string): Promise<void>
}

interface Question {
  question: string
  /** Goes to the place that shows the result, and returns the element. */
  find(page: Page, way: Way): Promise<Locator>
}

/** What people ask every day. docs/start/console.md lists the same. What the overview itself shows is first. */
export const dailyQuestions: readonly Question[] = [
  {
    question: 'What did yesterday cost?',
    find: async (page) => page.getByRole('region', { name: 'Credits' }).filter({ hasText: /Yesterday\d/ }),
  },
  {
    question: 'Why is this endpoint red?',
    async find(page, way) {
      await way.click(page.getByRole('region', { name: 'Needs attention' }).getByRole('link', { name: /^Old CRM/ }))
      await way.click(page.getByRole('row', { name: /message\..* 500 / }).first())
      return page.getByRole('dialog').getByText('the database of this receiver is down').first()
    },
  },
  {
    question: 'Did Ana get the reminder?',
    async find(page, way) {
      await way.search('Ana Pru')
      await way.click(page.getByRole('option', { name: /^Ana Prueba/ }))
      return page.getByText(/Your visit is on Thursday 12.*appointment_reminder.*Read/).first()
    },
  },
  {
    question: 'Who changed the key?',
    async find(page, way) {
      await way.go('Audit log')
      await way.click(page.getByRole('row', { name: /Ada Nilsson changed the key “Demo key”/ }))
      return page
        .getByRole('dialog')
        .getByRole('definition')
        .filter({ hasText: /Before: 30.*After: 100/ })
    },
  },
  {
    question: 'Which template was rejected, and why?',
    async find(page, way) {
      await way.go('Templates')
      await way.click(page.getByRole('row', { name: /^badly_formed.*Rejected/ }))
      return page.getByText('Invalid format').first()
    },
  },
  {
    question: 'Who wrote last and waits for a reply?',
    async find(page, way) {
      await way.go('Contacts')
      return page.getByRole('list', { name: 'Conversations' }).getByRole('link', { name: /Jörg Müller.*\d unread/ })
    },
  },
  {
    question: 'Which calls failed, and why?',
    async find(page, way) {
      await way.go('API errors')
      await way.click(page.getByRole('row', { name: /insufficient_scope/ }))
      return page.getByRole('dialog').getByRole('link', { name: 'Grant messages:send to Reporting' })
    },
  },
  {
    question: 'Is my number healthy?',
    async find(page, way) {
      await way.go('Senders')
      await way.click(page.getByRole('row', { name: /Harbour Clinic/ }).first())
      return page.getByText(/At most \d+ used/)
    },
  },
  {
    question: 'What was delivered to this endpoint today?',
    async find(page, way) {
      await way.go('Webhooks')
      await way.click(page.getByRole('row', { name: /Booking system/ }))
      return page.getByRole('row', { name: /message\..*Delivered.*200/ }).first()
    },
  },
  {
    question: 'Who may sign in?',
    async find(page, way) {
      await way.go('Team')
      return page.getByRole('row', { name: /ada@harbour\.example.*Admin/ })
    },
  },
  {
    question: 'How long is the queue?',
    async find(page, way) {
      await way.go('Health')
      return page.getByText('Messages queued')
    },
  },
]

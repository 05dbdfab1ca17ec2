import type { ReactNode } from 'react'
import { PageBody } from './layout.tsx'
import { PageHeader } from './page-header.tsx'
import { Loaded } from './states.tsx'

export interface Back {
  to: string
  title: string
}

interface DetailPageProps<Data> {
  query: { data: Data | undefined; error: unknown; refetch(): unknown }
  /** The kind of object: "Order". */
  title: string
  back: Back
  /** The page, once the data is loaded. */
  children: (data: Data) => ReactNode
}

/** The page of one object: shows the header with a loading or error state until the data is there. */
export function DetailPage<Data>({ query, title, back, children }: DetailPageProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  return (
    <>
      <PageHeader title={title} back={back} />
      <PageBody>
        <Loaded query={query} what={`This ${title.toLowerCase()}`}>
          {() => null}
        </Loaded>
      </PageBody>
    </>
  )
}

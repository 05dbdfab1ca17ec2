import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { isSignedOut, type Send, send } from './api.ts'
import { toast } from './toasts.ts'

/** Where the outcome of a run goes. Without `onError`, an error is shown as a toast. */
export interface Then<Result> {
  onDone?: (result: Result) => void
  onError?: (error: unknown) => void
}

export interface Action<Input = void, Result = unknown> {
  /** Does nothing while an earlier run is still going. */
  run(input: Input, then?: Then<Result>): void
  isPending: boolean
}

interface Options<Input, Result> {
  /** Paths: afterwards every query is asked again whose path begins with one of them. */
  refetch?: readonly string[]
  /** The words of the toast once it is done, if any. */
  done?: string | ((result: Result, input: Input) => string | undefined)
}

/**
 * Something a person does: a change, a message, a download. Everything that changes something goes through here, so that
 * it behaves the same on every page: an ended session leads to the sign-in page (see createQueryClient), a second click
 * does nothing, and a request that needs a confirmation asks for it and continues. Forms show errors by `useForm`.
 */
export function useAction<Input = void, Result = unknown>(
  perform: (send: Send, input: Input) => Promise<Result>,
  { refetch = [], done }: Options<Input, Result> = {},
): Action<Input, Result> {
  const client = useQueryClient()
  const isRunning = useRef(false)
  const { mutateAsync, isPending } = useMutation({
    mutationFn: (input: Input) => perform(send, input),
    // Offline it fails at once: nothing is sent later, when nobody expects it any more.
    networkMode: 'always',
  })
  const refetchAll = () =>
    void client.invalidateQueries({
      predicate: ({ queryKey }) => refetch.some((path) => String(queryKey[0]).startsWith(path)),
    })
  const succeed = (result: Result, input: Input, { onDone }: Then<Result>) => {
    refetchAll()
    const words = typeof done === 'function' ? done(result, input) : done
    if (words) toast.done(words)
    onDone?.(result)
  }
  const fail = (error: unknown, { onError }: Then<Result>) => {
    // What was done in part, or by somebody else, has to show.
    if (!isSignedOut(error)) refetchAll()
    if (onError) onError(error)
    else if (!isSignedOut(error)) toast.failed(error)
  }
  return {
    isPending,
    run(input, then = {}) {
      if (isRunning.current) return
      isRunning.current = true
      void mutateAsync(input)
        .finally(() => {
          isRunning.current = false
        })
        .then(
          (result) => succeed(result, input, then),
          (error) => fail(error, then),
        )
    },
  }
}

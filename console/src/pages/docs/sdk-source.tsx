/** Where the SDK in the examples comes from. */
export const SdkSource = () => (
  <p>
    <code>@parley/sdk</code> is part of Parley and not on npm yet. Run <code>npm pack</code> in the folder{' '}
    <code>sdk</code> of Parley’s source code, then <code>npm install</code> the file that it writes in your project.
  </p>
)

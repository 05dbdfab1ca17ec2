import { expect, test } from 'vitest'
import { readS3Url } from './s3-settings.ts'

const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret-of-env' }

test('a bucket alone is one of AWS, in the region of the environment', () => {
  expect(readS3Url('s3://my-bucket', { ...env, AWS_REGION: 'eu-central-1', AWS_SESSION_TOKEN: 'token' })).toEqual({
    bucket: 'my-bucket',
    prefix: '',
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    region: 'eu-central-1',
    style: 'path',
    accessKeyId: 'id',
    secretAccessKey: 'secret-of-env',
    sessionToken: 'token',
  })
})

test('the URL names the endpoint, the region and the prefix, and the credentials if the environment has none', () => {
  const url =
    's3://my-bucket/a/b/?endpoint=http://minio:9000/&region=local&style=host&access_key_id=k&secret_access_key=a%2Fb'
  expect(readS3Url(url, {})).toEqual({
    bucket: 'my-bucket',
    prefix: 'a/b/',
    endpoint: 'http://minio:9000',
    region: 'local',
    style: 'host',
    accessKeyId: 'k',
    secretAccessKey: 'a/b',
    sessionToken: null,
  })
  expect(readS3Url(url, env)).toMatchObject({ accessKeyId: 'id', secretAccessKey: 'secret-of-env' })
})

test.each([
  ['https://bucket.example.com', 'it is not an s3:// URL'],
  ['s3://', 'bucket'],
  ['s3:///prefix', 'bucket'],
  ['s3://Bucket', 'bucket'],
  ['s3://a_b', 'bucket'],
  ['s3://key:pass-word@bucket', 'more than a bucket and a prefix'],
  ['s3://bucket:9000', 'more than a bucket and a prefix'],
  ['s3://bucket/a b', 'prefix'],
  ['s3://bucket/a//b', 'prefix'],
  ['s3://bucket/a%2Fb', 'prefix'],
  ['s3://bucket?endpoint=minio:9000', 'endpoint'],
  ['s3://bucket?endpoint=ftp://minio', 'endpoint'],
  ['s3://bucket?endpoint=https://a:pass-word@minio', 'endpoint'],
  ['s3://bucket?region=a/b', 'region'],
  ['s3://bucket?style=dns', 'style'],
  ['s3://bucket?secret=pass-word', 'endpoint, region, style, access_key_id, secret_access_key'],
])('%s is refused, and the message does not repeat it', (url, fault) => {
  const read = readS3Url(url, env)
  expect(read).toMatchObject({ fault: expect.stringContaining(fault) })
  expect(JSON.stringify(read)).not.toContain('pass-word')
})

test.each([
  ['s3://bucket', {}],
  ['s3://bucket?access_key_id=k', {}],
  // The pairs are not mixed.
  ['s3://bucket?access_key_id=k&secret_access_key=s', { AWS_ACCESS_KEY_ID: 'id' }],
])('%s without complete credentials is refused', (url, incomplete) => {
  expect(readS3Url(url, incomplete)).toEqual({
    fault: 'it needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  })
})
